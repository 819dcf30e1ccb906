"""Starts one command from a small process and reports the command's resources.

The kernel counts the peak memory of a new process from before its exec, when the process still shares its parent's
memory. So a command started from a large Python would look as large. Run with -I -S; imports only small modules.
"""

import os
import signal
import sys
import time


def main() -> None:
    """argv: time limit in seconds, descriptor for the report, then the command.

    The report is "status wall cpu_user cpu_system maxrss_kB timed_out bytes_read page_faults".
    """
    limit, descriptor, command = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    start = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.close(descriptor)
        try:
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    timed_out = False

    def expire(_number: int, _frame: object) -> None:
        nonlocal timed_out
        timed_out = True
        os.kill(pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, limit)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    wall = time.perf_counter() - start
    # The process has ended; its counters exist until the wait.
    counted = os.open(f"/proc/{pid}/io", os.O_RDONLY)
    read = next(line.split()[1] for line in os.read(counted, 4096).splitlines() if line.startswith(b"rchar:"))
    os.close(counted)
    _, status, usage = os.wait4(pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    code = os.waitstatus_to_exitcode(status)
    report = [code, wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss, int(timed_out), int(read), usage.ru_minflt]
    os.write(descriptor, " ".join(map(str, report)).encode())


if __name__ == "__main__":
    main()
