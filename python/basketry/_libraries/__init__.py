"""Arrays of NumPy, awkward and pandas from buffers of the compiled half, and back; and whether XRootD's library is
there. A library is imported when it is asked for."""
