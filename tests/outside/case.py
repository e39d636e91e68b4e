# case.py FOLDER [quick]: runs a case of shared/data/outside, by its own expected.py, or what holds for every case.
#
# Its limits are of the clock; here processor time counts, which the runner limits, so they are moved far away. `quick`: on fewer
# targets and modes, and with less effort, by one C compiler.
import glob
import os
import runpy
import sys

folder = os.path.abspath(sys.argv[1])
quick = "quick" in sys.argv
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(folder))
import harness

command = harness.sh
compilers = os.environ.get("PTO_COMPILERS", "gcc" if quick else "gcc clang").split()


def patient(cmd, timeout=0):
    if cmd[0] in ("gcc", "clang") and cmd[0] not in compilers:
        return 0, "", "", 0.0
    if quick and cmd[1:2] == ["check"]:
        cmd = [word.replace("generic,x86-64-v3,x86-64-v4", "x86-64-v3") for word in cmd] + ["--effort=0.25", "--mode=serial"]
    return command(cmd, 3600)


harness.sh = patient
if quick:
    harness.CONFIGS[:] = [harness.CONFIGS[2], harness.CONFIGS[5]]

script = os.path.join(folder, "expected.py")
if os.path.exists(script):
    sys.argv = [script] + ["quick"] * quick
    try:
        done, failed = harness.Case.done, []

        def finish(case):
            failed.append(case.bad)
            done(case)

        harness.Case.done = finish
        runpy.run_path(script, run_name="__main__")
    finally:
        harness.Case.done = done
    bad = sum(failed) if failed else 1
else:
    # Nothing to compare with but the reference evaluator.
    case = harness.Case(os.path.join(folder, "case.pto"))
    case.check()
    case.compile()
    case.done()
    bad = case.bad
sys.exit(bad != 0)
