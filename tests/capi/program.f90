! A table of a Fortran program by iso_c_binding: two columns, bound by address. Usage: program FILE
program fortran_writes
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: basketry_column
    integer(c_size_t) :: size = 0
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: type = c_null_ptr
    integer(c_size_t) :: offset = 0
    type(c_ptr) :: members = c_null_ptr
    integer(c_size_t) :: member_count = 0
    integer(c_size_t) :: stride = 0
    integer(c_size_t) :: string_size = 0
  end type

  interface
    function basketry_writer_new(path, options, pool, error) bind(c)
      import :: c_ptr, c_char
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), value :: options, pool
      type(c_ptr), intent(out) :: error
      type(c_ptr) :: basketry_writer_new
    end function
    function basketry_writer_table(writer, path, columns, count, options, error) bind(c)
      import :: c_ptr, c_char, c_size_t, c_int64_t, basketry_column
      type(c_ptr), value :: writer, options
      character(kind=c_char), intent(in) :: path(*)
      type(basketry_column), intent(in) :: columns(*)
      integer(c_size_t), value :: count
      type(c_ptr), intent(out) :: error
      integer(c_int64_t) :: basketry_writer_table
    end function
    function basketry_context_new(writer, table, error) bind(c)
      import :: c_ptr, c_int64_t
      type(c_ptr), value :: writer
      integer(c_int64_t), value :: table
      type(c_ptr), intent(out) :: error
      type(c_ptr) :: basketry_context_new
    end function
    function basketry_context_bind(context, column, address, error) bind(c)
      import :: c_ptr, c_size_t, c_int32_t
      type(c_ptr), value :: context, address
      integer(c_size_t), value :: column
      type(c_ptr), intent(out) :: error
      integer(c_int32_t) :: basketry_context_bind
    end function
    function basketry_context_fill(context, entry, error) bind(c)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: context, entry
      type(c_ptr), intent(out) :: error
      integer(c_int32_t) :: basketry_context_fill
    end function
    function basketry_context_finish(context, error) bind(c)
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: context
      type(c_ptr), intent(out) :: error
      integer(c_int32_t) :: basketry_context_finish
    end function
    function basketry_writer_finish(writer, bytes, error) bind(c)
      import :: c_ptr, c_int32_t, c_int64_t
      type(c_ptr), value :: writer
      integer(c_int64_t), intent(out) :: bytes
      type(c_ptr), intent(out) :: error
      integer(c_int32_t) :: basketry_writer_finish
    end function
    subroutine basketry_context_free(context) bind(c)
      import :: c_ptr
      type(c_ptr), value :: context
    end subroutine
    subroutine basketry_writer_free(writer) bind(c)
      import :: c_ptr
      type(c_ptr), value :: writer
    end subroutine
  end interface

  character(len=1000) :: path
  character(len=9, kind=c_char), target :: names(2) = ['number'//c_null_char//'  ', 'energy'//c_null_char//'  ']
  character(len=9, kind=c_char), target :: types(2) = ['int'//c_null_char//'     ', 'double'//c_null_char//'  ']
  type(basketry_column) :: columns(2)
  type(c_ptr) :: writer, context, error
  integer(c_int64_t) :: table, bytes
  integer(c_int32_t), target :: number
  real(c_double), target :: energy
  integer :: i

  call get_command_argument(1, path)
  writer = basketry_writer_new(trim(path)//c_null_char, c_null_ptr, c_null_ptr, error)
  if (.not. c_associated(writer)) error stop 'basketry_writer_new'
  do i = 1, 2
    columns(i)%size = c_sizeof(columns(i))
    columns(i)%name = c_loc(names(i))
    columns(i)%type = c_loc(types(i))
  end do
  table = basketry_writer_table(writer, 'Events'//c_null_char, columns, 2_c_size_t, c_null_ptr, error)
  if (table < 0) error stop 'basketry_writer_table'
  context = basketry_context_new(writer, table, error)
  if (basketry_context_bind(context, 0_c_size_t, c_loc(number), error) /= 0) error stop 'bind'
  if (basketry_context_bind(context, 1_c_size_t, c_loc(energy), error) /= 0) error stop 'bind'
  do i = 0, 99
    number = i
    energy = 0.5d0 * i
    if (basketry_context_fill(context, c_null_ptr, error) /= 0) error stop 'fill'
  end do
  if (basketry_context_finish(context, error) /= 0) error stop 'finish'
  call basketry_context_free(context)
  if (basketry_writer_finish(writer, bytes, error) /= 0) error stop 'finish'
  call basketry_writer_free(writer)
end program
