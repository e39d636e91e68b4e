# faults.py NAME FOLDER: one of shared/data/outside/faults, the smallest programs that went wrong once, by the table in the
# README there. Figures of speed are printed, not judged; whether time is linear is, by processor time.
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np

name, folder = sys.argv[1], sys.argv[2]
PTOC, INCLUDE = os.environ["PTOC"], os.environ["PTOC_INCLUDE"]
TARGETS = ["generic", "native", "davinci"]
source = os.path.join(folder, name + ".pto")
scratch = tempfile.mkdtemp(dir=os.getcwd())
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAIL", name, text, flush=True)


def command(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run(words, capture_output=True, text=True, errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return p.returncode, p.stdout + p.stderr, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def clean(code):
    return code in (0, 1)


def run(kernel, inputs, outputs, target):
    """Exit code, what was said, the outputs, processor time."""
    words = [PTOC, "run", source, "-k", kernel, "--target=" + target]
    for key, value in inputs.items():
        if isinstance(value, np.ndarray):
            path = os.path.join(scratch, key + ".npy")
            np.save(path, value)
            value = path
        words.append("%s=%s" % (key, value))
    for key in outputs:
        words += ["-o", "%s=%s" % (key, os.path.join(scratch, "out_%s.npy" % key))]
    code, text, seconds = command(words)
    if not clean(code):
        fail("%s on %s: exit code %d: %s" % (kernel, target, code, text[:500]))
    found = {key: np.load(os.path.join(scratch, "out_%s.npy" % key)) for key in outputs} if code == 0 else {}
    return code, text, found, seconds


def equal(kernel, inputs, expected, targets=TARGETS, rtol=0.0):
    for target in targets:
        code, text, found, _ = run(kernel, inputs, expected, target)
        if code:
            fail("%s on %s: exit code %d: %s" % (kernel, target, code, text[:500]))
        for key in found:
            want = np.asarray(expected[key])
            if found[key].shape != want.shape or not np.allclose(found[key].astype(np.float64), want.astype(np.float64), rtol=rtol, atol=0):
                fail("%s on %s: %s is %s, expected %s" % (kernel, target, key, str(found[key])[:300], str(want)[:300]))


def compiles(targets, compilers):
    for target in targets:
        code, text, _ = command([PTOC, source, "--target=" + target, "-o", scratch + "/k.c"])
        if code:
            fail("%s: exit code %d: %s" % (target, code, text[:500]))
            continue
        for compiler in compilers:
            if command(["sh", "-c", "command -v " + compiler])[0]:
                print(compiler, "is not installed")
                continue
            code, text, _ = command([compiler, "-std=c11", "-O3", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I" + INCLUDE, "-c", scratch + "/k.c",
                                     "-o", scratch + "/k.o"])
            if code:
                fail("%s of %s: %s" % (compiler, target, text[:500]))


def F1():
    x = np.random.RandomState(1).randint(0, 256, 1000).astype(np.uint8)
    for target in TARGETS:
        code, text, found, _ = run("k", {"x": x, "M": 4000000000, "K": 4000000000}, ["y"], target)
        if code == 0 and found["y"] != x[4000000000 * 4000000000 % 1000]:
            fail("%s: the product wrapped: %s" % (target, found["y"]))
        print(target, "exit code", code, text.strip()[:200])


def F2():
    x = np.array([0, 1, 127, 128, 200, 255], np.uint8)
    equal("below", {"x": x, "B": 256}, {"y": np.ones(6, bool)})
    equal("below", {"x": x, "B": 200}, {"y": x < 200})
    signed = np.array([-56, -1, -128, 5, 5, 127, 0], np.int8)
    equal("h", {"x": signed}, {"h": np.bincount(signed[signed >= 0], minlength=256).astype(np.int32)})


def F3():
    equal("k", {"g": np.zeros(20, np.int32), "n": np.zeros(5, np.int32)}, {"y": np.zeros(20, np.int32)})
    equal("k", {"g": np.zeros(20, np.int32), "n": np.arange(1, 6, dtype=np.int32)}, {"y": np.zeros(20, np.int32)})
    for target in TARGETS:      # needed by one
        g = np.zeros(20, np.int32)
        g[13] = 1
        code, text, _, _ = run("k", {"g": g, "n": np.zeros(5, np.int32)}, ["y"], target)
        if code != 1:
            fail("%s: a quotient that is needed divides by zero: exit code %d" % (target, code))


def F4():
    n = np.array([0, 3, 0, 2], np.int32)
    equal("k", {"a": np.ones(4, np.int32), "n": np.zeros(4, np.int32)}, {"y": np.zeros(4, np.int32)})
    equal("k", {"a": np.array([7, 7, 8, 9], np.int32), "n": n}, {"y": np.array([0, 2, 0, 4], np.int32)})


def F5():
    code, text, _ = command([PTOC, source, "-o", scratch + "/k.c"])
    if not clean(code) or (code == 1 and "error: " not in text):
        fail("exit code %d: %s" % (code, text[:500]))
    if code == 0:
        equal("k", {"x": np.array([1, 2, 3], np.float32), "z": 7.5}, {"y": np.array([2, 3, 7.5], np.float32)})


def F6():
    compiles(["x86-64-v4", "x86-64-v3", "generic"], ["gcc", "clang"])


def F7():
    compiles(["generic", "x86-64-v3"], ["gcc", "clang"])


def F8():
    x, z = np.array([2**62 + 2**54 + 1] * 9, np.int64), np.array([2**63 + 2**55 + 1] * 9, np.uint64)
    equal("k", {"x": x, "z": z}, {"y": np.full(9, 0x5e81, np.uint16), "w": np.full(9, 0x5f01, np.uint16)})


def F9():
    n = 3000
    x = np.arange(n).astype(np.uint8)
    f = np.random.RandomState(2).uniform(-300, 600, n).astype(np.float32)
    equal("absu8", {"x": x}, {"y": x})
    equal("div3", {"x": x}, {"y": x // 3})
    equal("f2u", {"x": f}, {"y": np.clip(np.trunc(f), 0, 255).astype(np.uint8)})
    equal("index", {"N": n}, {"y": np.arange(n, dtype=np.int32)})


def rows(R, Z):
    r = np.random.RandomState(3)
    ptr = np.concatenate([[0], np.sort(r.randint(0, Z + 1, R - 1)), [Z]]).astype(np.int32)
    return {"ptr": ptr, "col": r.randint(0, R, Z).astype(np.int32), "val": r.randint(-8, 9, Z).astype(np.float64),
            "v": r.randint(-8, 9, R).astype(np.float64), "R": R}


def product(a):
    each = a["val"] * a["v"][a["col"]]
    sums = np.concatenate([[0.0], np.cumsum(each)])
    return sums[a["ptr"][1:]] - sums[a["ptr"][:-1]]


def F10():
    small = rows(60, 400)
    equal("spmv", small, {"y": product(small)})
    seconds = []
    for R, Z in ((10000, 100000), (20000, 200000)):
        a = rows(R, Z)
        code, text, found, used = run("spmv", a, ["y"], "native")
        code, text, found, used = run("spmv", a, ["y"], "native")
        if code or not np.array_equal(found["y"], product(a)):
            fail("R = %d, Z = %d: exit code %d, or another product: %s" % (R, Z, code, text[:500]))
        seconds.append(used)
        print("R = %d, Z = %d: %.2f s of the processors" % (R, Z, used))
    # Four times as long for twice as much, and long enough to tell from what it takes to start.
    if seconds[1] > 3 * seconds[0] and seconds[1] > 2:
        fail("not linear")


def F11():
    n = 130
    r = np.random.RandomState(4)
    pos, mass, eps = r.uniform(-1, 1, (n, 3)).astype(np.float32), r.uniform(0.1, 1, n).astype(np.float32), 0.01
    p = pos.astype(np.float64)
    difference = p[None, :, :] - p[:, None, :]
    d = (difference**2).sum(2) + np.float32(eps)
    want = (mass[None, :, None] * difference / (d * np.sqrt(d))[:, :, None]).sum(1)
    for kernel, inputs, outputs in (
            ("soa", {"px": pos[:, 0].copy(), "py": pos[:, 1].copy(), "pz": pos[:, 2].copy()}, {"ax": want[:, 0], "ay": want[:, 1], "az": want[:, 2]}),
            ("aos", {"pos": pos}, {"acc": want}), ("first", {"pos": pos.T.copy()}, {"acc": want.T})):
        for target in TARGETS[:2]:
            code, text, found, seconds = run(kernel, dict(inputs, mass=mass, eps=eps), outputs, target)
            if code:
                fail("%s on %s: %s" % (kernel, target, text[:500]))
            for key in found:
                if np.abs(found[key] - outputs[key]).max() > 1e-3 * np.abs(want).max():
                    fail("%s on %s: %s differs" % (kernel, target, key))
    big = r.uniform(-1, 1, (4000, 3)).astype(np.float32)
    for kernel, inputs, outputs in (("soa", {"px": big[:, 0].copy(), "py": big[:, 1].copy(), "pz": big[:, 2].copy()}, ["ax"]), ("aos", {"pos": big}, ["acc"]),
                                    ("first", {"pos": big.T.copy()}, ["acc"])):
        _, _, _, seconds = run(kernel, dict(inputs, mass=np.ones(4000, np.float32), eps=eps), outputs, "native")
        print("%s, N = 4000: %.2f s of the processors" % (kernel, seconds))


def F12():
    code, text, _ = command([PTOC, "check", source, "--effort=1"])
    if code or "all equal" not in text:
        fail("exit code %d: %s" % (code, text[:500]))


globals()[name]()
sys.exit(failures != 0)
