! recorder_program.f90 - a Fortran program for the test of the recorder; what
! it does is known to recorder_test.sh.
!
! SPDX-License-Identifier: Apache-2.0
program recorder_program
  use BINDING
  implicit none
  integer :: rank, n, error, next, before
  REQUEST :: requests(2)
  COMM :: row
  double precision :: sent(100), got(100)

  sent = 1
  call MPI_Init (error)
  call MPI_Comm_rank (MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size (MPI_COMM_WORLD, n, error)
  next = mod (rank + 1, n)
  before = mod (rank + n - 1, n)
  call MPI_Irecv (got, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend (sent, 50, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall (2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Send (sent, 1, MPI_REAL, MPI_PROC_NULL, 1, MPI_COMM_WORLD, error)
  call MPI_Comm_split (MPI_COMM_WORLD, mod (rank, 2), rank, row, error)
  call MPI_Allreduce (MPI_IN_PLACE, sent, 10, MPI_DOUBLE_PRECISION, MPI_SUM, row, error)
  call MPI_Finalize (error)
end program recorder_program
