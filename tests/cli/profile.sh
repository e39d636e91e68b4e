# `ptoc profile`: what it counts for a kernel small enough to count by hand, JSON that reads back, CPUs, and what may go wrong.
. "$SOURCE/tests/cli/common"

# Is the file JSON, and does the expression (Python, over `d`) hold?
holds() { python3 -c 'import json,sys; d = json.load(open(sys.argv[1])); assert eval(sys.argv[2]), "false: " + sys.argv[2]' "$1" "$2" || die "$1: $2"; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }

# 64 elements of 4 bytes: 256 bytes, or 4 bursts of 64, each way.
exits 0 "$PTOC" profile good.pto 'x=iota(64)' --target=davinci -o p.json
says out.txt 'twice on davinci: '
says out.txt 'DDR - L1'
sed -n 's/.*: \([0-9]*\) cycles.*/\1/p' out.txt >cycles
exits 0 "$PTOC" run good.pto 'x=iota(64)' --target=davinci
says out.txt "cycles: $(cat cycles)"
holds p.json "d['totals']['cycles'] == $(cat cycles)"
holds p.json "d['displayTimeUnit'] == 'ns' and d['otherData']['kernel'] == 'twice'"
holds p.json "[(t['name'], t['read'], t['written'], t['least_read'] + t['least_written']) for t in d['totals']['tensors']] == [('x', 256, 0, 256), ('y', 0, 256, 256)]"
holds p.json "all(e['args']['equation'] and e['args']['source'] == 'good.pto:2' for e in d['traceEvents'] if e['ph'] == 'X' and e['tid'] in range(1, 7) and e['pid'])"
holds p.json "sum(e['args']['bytes'] for e in d['traceEvents'] if e['ph'] == 'X' and 'bytes' in e.get('args', {}) and e['args']['bytes']) == sum(p['bytes'] for p in d['totals']['paths'])"
holds p.json "sum(sum(p['over_time']) for p in d['totals']['paths']) == sum(p['bytes'] for p in d['totals']['paths'])"
holds p.json "len(d['totals']['graph']['launches']) == 1 and {e['ph'] for e in d['traceEvents']} >= {'X', 'C', 'M'}"
holds p.json "abs(sum(w['share'] for w in d['totals']['waits']) - 1) < 1e-6"
# The same call, the same bytes.
exits 0 "$PTOC" profile good.pto 'x=iota(64)' --target=davinci -o q.json --html=q.html
cmp p.json q.json || die "two profiles of one call differ"
cp q.html r.html
exits 0 "$PTOC" profile good.pto 'x=iota(64)' --target=davinci --html=q.html
cmp q.html r.html || die "two reports of one call differ"
grep -E 'src=|href="(http|/)|@import|url\([^#]' q.html && die "the report names other files"

# Totals count what the trace leaves out, and that is said.
exits 0 "$PTOC" profile good.pto 'x=iota(100000)' --target=davinci -o few.json --events=10
says out.txt 'left out'
holds few.json "'note' in d['otherData'] and sum(1 for e in d['traceEvents'] if 'bundle' in e.get('args', {})) == 10"
exits 0 "$PTOC" profile good.pto 'x=iota(100000)' --target=davinci -o all.json
holds all.json "d['totals'] == json.load(open('few.json'))['totals']"

# Time does not depend on values; without them nothing is computed and nothing can be saved.
cat >product.pto <<'END'
kernel product(a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N]) { c[i, j] = sum(k) a[i, k]*b[k, j]; }
END
exits 0 "$PTOC" run product.pto 'a=random(70,50)' 'b=random(50,90)' --target=davinci
grep cycles out.txt >with
exits 0 "$PTOC" run product.pto 'a=zeros(70,50)' 'b=zeros(50,90)' --target=davinci --timing-only
grep cycles out.txt >without
cmp with without || die "--timing-only changes the cycles"
if grep -q '^c:' out.txt; then die "values without values"; fi
exits 2 "$PTOC" run product.pto 'a=zeros(7,5)' 'b=zeros(5,9)' --target=davinci --timing-only -o c.npy
[ ! -e c.npy ] || die "an output of --timing-only"
exits 2 "$PTOC" run product.pto 'a=zeros(7,5)' 'b=zeros(5,9)' --timing-only
says err.txt davinci
exits 0 "$PTOC" profile product.pto 'a=zeros(70,50)' 'b=zeros(50,90)' --target=davinci --timing-only -o timing.json
holds timing.json "d['totals']['macs'] == 70*50*90"
exits 0 "$PTOC" profile product.pto 'a=random(70,50)' 'b=random(50,90)' --target=ascend910b -o ascend.json --html=ascend.html

# Rows that are too wide for the memories are the scalar unit's, and that is said.
exits 0 "$PTOC" profile "$SOURCE/samples/softmax.pto" 'x=random(2,8192)' --target=davinci -o wide.json
says out.txt 'runs on the scalar unit alone'
holds wide.json "[g['scalar'] for g in d['totals']['graph']['programs']] == [True]"
exits 0 "$PTOC" profile "$SOURCE/samples/softmax.pto" 'x=random(2,256)' --target=davinci -o narrow.json
if grep -q 'scalar unit alone' out.txt; then die "blocks that fit are said to be none"; fi
holds narrow.json "[g['scalar'] for g in d['totals']['graph']['programs']] == [False]"

# A CPU: tasks, shares of the workers' time, counters or why there are none.
exits 0 "$PTOC" profile "$SOURCE/samples/softmax.pto" 'x=random(3000,257:1)' --threads=2 -o cpu.json --html=cpu.html
says out.txt 'workers:'
holds cpu.json "d['totals']['kind'] == 'cpu' and d['totals']['tasks_run'] == sum(l['tasks'] for l in d['totals']['graph']['launches']) > 0"
holds cpu.json "abs(sum(w['share'] for w in d['totals']['waits']) - 1) < 0.01"
holds cpu.json "d['totals']['counters']['note'] or d['totals']['counters']['cycles'] > 0"
holds cpu.json "{'m', 'e', 's', 'y'} <= {e['name'] for e in d['totals']['equations']}"
for mode in serial static dynamic wave; do
    exits 0 "$PTOC" profile "$SOURCE/samples/edit_distance.pto" 's=random(300:1)' 't=random(200:2)' --threads=2 --mode=$mode -o mode.json
    holds mode.json "d['totals']['tasks_run'] > 0"
done
exits 0 "$PTOC" profile good.pto 'x=zeros(0)' -o empty.json --html=empty.html
holds empty.json "d['totals']['tasks_run'] == 0"

# What is wrong leaves nothing behind, and what was there as it was.
echo old >old.json
exits 1 "$PTOC" profile absent.pto x=1 -o old.json
exits 1 "$PTOC" profile bad.pto 'x=zeros(4)' -k wrong -o old.json
exits 2 "$PTOC" profile good.pto z=1 -o old.json
exits 2 "$PTOC" profile good.pto 'x=zeros(4)' -o a.json -o b.json
exits 2 "$PTOC" profile good.pto 'x=zeros(4)' -o a.json --html=a.json
exits 2 "$PTOC" profile good.pto 'x=zeros(4)' --events=some
exits 1 "$PTOC" profile good.pto 'x=zeros(4)' --target=davinci -o old.json --html=nowhere/report.html
says err.txt nowhere/report.html
exits 1 "$PTOC" profile good.pto 'x=zeros(4)' --target=davinci -o nowhere/a.json
cat >fault.pto <<'END'
kernel pick(x: f32[N], at: i32[M]) -> (y: f32[M]) { y[i] = x[at[i]]; }
END
exits 1 "$PTOC" profile fault.pto 'x=iota(5)' 'at=random(9:1:90..99)' --target=davinci -o old.json --html=fault.html
[ "$(cat old.json)" = old ] || die "an old file is lost"
for f in nowhere a.json b.json fault.html; do [ ! -e $f ] || die "$f was left"; done
if find . -name '*.json.*' -o -name '*.html.*' | grep .; then die "a half-written file was left"; fi
exits 0 "$PTOC" profile --help
says out.txt --html

# On a CPU a tensor that one grid computes and uses lives in registers: it has no bytes. One that goes from grid to grid has.
cat >local.pto <<'END'
kernel fused(x: f32[N]) -> (y: f32[N]) { t[i] = 2*x[i]; y[i] = t[i]*t[i] + 1; }
kernel apart(x: f32[N]) -> (y: f32[N]) { t[i] = 2*x[i]; y[i] = t[N-1-i] + 1; }
END
for kernel in fused:0 apart:256; do
    exits 0 "$PTOC" profile local.pto -k "${kernel%:*}" 'x=iota(64)' --threads=1 -o p.json
    holds p.json "[t['bytes'] for t in d['totals']['tensors'] if t['name'] == 't'] == [${kernel#*:}]"
done
