# A table of a Julia program by ccall: two columns, bound by address. Usage: julia program.jl LIBRARY FILE
const library = ARGS[1]

struct Column
    size::Csize_t
    name::Cstring
    type::Cstring
    offset::Csize_t
    members::Ptr{Cvoid}
    member_count::Csize_t
    stride::Csize_t
    string_size::Csize_t
end

function check(done, failed)
    done && return
    message = ccall((:basketry_error_message, library), Cstring, (Ptr{Cvoid},), failed[])
    error(unsafe_string(message))
end

failed = Ref{Ptr{Cvoid}}(C_NULL)
writer = ccall((:basketry_writer_new, library), Ptr{Cvoid}, (Cstring, Ptr{Cvoid}, Ptr{Cvoid}, Ref{Ptr{Cvoid}}),
               ARGS[2], C_NULL, C_NULL, failed)
check(writer != C_NULL, failed)
texts = ["number", "int", "energy", "double"]
GC.@preserve texts begin
    column(name, type) = Column(sizeof(Column), Cstring(pointer(name)), Cstring(pointer(type)), 0, C_NULL, 0, 0, 0)
    columns = [column(texts[1], texts[2]), column(texts[3], texts[4])]
    table = ccall((:basketry_writer_table, library), Int64,
                  (Ptr{Cvoid}, Cstring, Ptr{Column}, Csize_t, Ptr{Cvoid}, Ref{Ptr{Cvoid}}),
                  writer, "Events", columns, 2, C_NULL, failed)
    check(table >= 0, failed)
end
context = ccall((:basketry_context_new, library), Ptr{Cvoid}, (Ptr{Cvoid}, Int64, Ref{Ptr{Cvoid}}), writer, table, failed)
check(context != C_NULL, failed)
number, energy = Ref{Cint}(0), Ref{Cdouble}(0)
GC.@preserve number energy begin
    for (place, value) in ((0, number), (1, energy))
        address = Base.unsafe_convert(Ptr{eltype(value)}, value)
        done = ccall((:basketry_context_bind, library), Cint, (Ptr{Cvoid}, Csize_t, Ptr{Cvoid}, Ref{Ptr{Cvoid}}),
                     context, place, address, failed)
        check(done == 0, failed)
    end
    for i in 0:99
        number[], energy[] = i, 0.5i
        done = ccall((:basketry_context_fill, library), Cint, (Ptr{Cvoid}, Ptr{Cvoid}, Ref{Ptr{Cvoid}}), context, C_NULL, failed)
        check(done == 0, failed)
    end
end
check(ccall((:basketry_context_finish, library), Cint, (Ptr{Cvoid}, Ref{Ptr{Cvoid}}), context, failed) == 0, failed)
ccall((:basketry_context_free, library), Cvoid, (Ptr{Cvoid},), context)
check(ccall((:basketry_writer_finish, library), Cint, (Ptr{Cvoid}, Ptr{UInt64}, Ref{Ptr{Cvoid}}), writer, C_NULL, failed) == 0, failed)
ccall((:basketry_writer_free, library), Cvoid, (Ptr{Cvoid},), writer)
