"""Servers for tests, on the loopback interface and on free ports, each until the tests end. `tests/conftest.py` has
their fixtures, which skip a test where a server is not installed:

    xrootd_server   XRootD: `put(name, path or bytes)`, then `root(name)` and `http(name)` are URLs; `requests()` counts
    start_xrootd    starts one of its own for a test: with other settings, or to `stop()` and `start()` it again
    nginx_server    nginx: `put`, and `url(name)`
    s3_server       S3 by moto: `put(bucket, key, ...)`, `url(bucket, key)`, and `environment` for the client
    odd_server      our own, for replies that other servers do not give: `put(name, bytes, Behaviour(...))` returns the
                    URL, and `requests` has what clients asked for
    Authority       (`certificates`) signs certificates for servers of ours, and is what clients trust
    HostileServer   (`hostile`) misbehaves in every way that we know: `url(behaviour)`
    Tunnels         (`proxy`) is a proxy as the variable `https_proxy` names one
    delayed         a proxy before any of them, with latency and bandwidth: `delayed(port, seconds, bytes_per_second)`

Every server has `port`. URLs name 127.0.0.1.
"""
