// NumPy's .npy format: "\x93NUMPY", version, length of the header, a Python dictionary, the elements.
//
// The header is untrusted: it must be exactly a dictionary of the three keys, and the file exactly as long as the
// shape says, before anything of that size is allocated (where the file's size can be known).
#include "data/array.h"

#include "data/element.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_HEADER = 1 << 20 };

typedef struct {
    DType type;
    bool swap, fortran;
    int rank;
    int64_t extent[ARRAY_MAX_RANK];
} Header;

static const struct { const char *code; DType type; } codes[] = {
    {"f8", DT_F64}, {"f4", DT_F32}, {"f2", DT_F16}, {"i8", DT_I64}, {"i4", DT_I32}, {"i2", DT_I16}, {"i1", DT_I8},
    {"u8", DT_U64}, {"u4", DT_U32}, {"u2", DT_U16}, {"u1", DT_U8}, {"b1", DT_BOOL},
};
enum { NCODES = sizeof codes / sizeof *codes };

static bool host_is_big(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

// ---- the dictionary ----

typedef struct { Arena *arena; const char *at; const char *error; } Reader;

static bool fail(Reader *r, const char *what)
{
    if (!r->error)
        r->error = what;
    return false;
}

static void skip_space(Reader *r) { r->at += strspn(r->at, " \t\r\n"); }

static bool accept(Reader *r, char c)
{
    skip_space(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

static bool expect(Reader *r, char c, const char *what) { return accept(r, c) || fail(r, what); }

static const char *read_string(Reader *r)
{
    skip_space(r);
    char quote = *r->at;
    if (quote != '\'' && quote != '"')
        return fail(r, "a string is missing in the header"), NULL;
    const char *end = strchr(r->at + 1, quote);
    if (!end)
        return fail(r, "a string in the header has no end"), NULL;
    const char *s = arena_strndup(r->arena, r->at + 1, (size_t)(end - r->at - 1));
    r->at = end + 1;
    return s;
}

static bool read_type(Reader *r, Header *h)
{
    skip_space(r);
    if (*r->at == '[')
        return fail(r, "records are not supported");
    const char *s = read_string(r);
    if (!s)
        return false;
    const char *code = s + (strchr("<>=|", *s) && *s);
    for (int k = 0; k < NCODES; k++)
        if (strcmp(code, codes[k].code) == 0) {
            h->type = codes[k].type;
            h->swap = (*s == '<' && host_is_big()) || (*s == '>' && !host_is_big());
            if (dtype_bytes(h->type) > 1 && code == s)
                return fail(r, "the type in the header has no byte order");
            return true;
        }
    return fail(r, arena_printf(r->arena, "the type '%s' is not supported", s));
}

static bool read_bool(Reader *r, bool *value)
{
    skip_space(r);
    *value = strncmp(r->at, "True", 4) == 0;
    if (!*value && strncmp(r->at, "False", 5) != 0)
        return fail(r, "'fortran_order' is neither True nor False");
    r->at += *value ? 4 : 5;
    return true;
}

static bool read_extent(Reader *r, int64_t *value)
{
    skip_space(r);
    *value = 0;
    if (*r->at < '0' || *r->at > '9')
        return fail(r, "an extent in the header is not a number");
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*value, INT64_C(10), value) || __builtin_add_overflow(*value, (int64_t)(*r->at - '0'), value))
            return fail(r, "an extent in the header is too large");
    if (*r->at == 'L')
        r->at++;
    return true;
}

static bool read_shape(Reader *r, Header *h)
{
    if (!expect(r, '(', "'shape' is not a tuple"))
        return false;
    while (!accept(r, ')')) {
        if (h->rank == ARRAY_MAX_RANK)
            return fail(r, "the rank is above 8");
        if (!read_extent(r, &h->extent[h->rank]))
            return false;
        h->rank++;
        if (!accept(r, ',')) {
            if (h->rank == 1)
                return fail(r, "'shape' is not a tuple");
            return expect(r, ')', "'shape' is not a tuple");
        }
    }
    return true;
}

static bool read_entry(Reader *r, Header *h, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    const char *key = read_string(r);
    if (!key || !expect(r, ':', "a ':' is missing in the header"))
        return false;
    for (unsigned k = 0; k < 3; k++) {
        if (strcmp(key, keys[k]) != 0)
            continue;
        if (*seen & 1u << k)
            return fail(r, arena_printf(r->arena, "the header has '%s' twice", key));
        *seen |= 1u << k;
        return k == 0 ? read_type(r, h) : k == 1 ? read_bool(r, &h->fortran) : read_shape(r, h);
    }
    return fail(r, arena_printf(r->arena, "the header has an unknown key '%s'", key));
}

static bool read_dictionary(Reader *r, Header *h)
{
    unsigned seen = 0;
    if (!expect(r, '{', "the header is not a dictionary"))
        return false;
    while (!accept(r, '}')) {
        if (!read_entry(r, h, &seen))
            return false;
        if (accept(r, ','))
            continue;
        if (!expect(r, '}', "the header is not a dictionary"))
            return false;
        break;
    }
    skip_space(r);
    if (*r->at)
        return fail(r, "text after the header's dictionary");
    return seen == 7 || fail(r, "the header lacks 'descr', 'fortran_order' or 'shape'");
}

// ---- reading ----

// The text of the header; the file stands at the first element afterwards.
static char *read_header_text(Reader *r, FILE *in)
{
    unsigned char head[12];
    size_t length;
    if (fread(head, 1, 10, in) != 10 || memcmp(head, "\x93NUMPY", 6) != 0)
        return fail(r, "not a .npy file"), NULL;
    if (head[6] < 1 || head[6] > 3 || head[7] != 0)
        return fail(r, arena_printf(r->arena, "version %d.%d of the format is unknown", head[6], head[7])), NULL;
    length = (size_t)(head[8] | head[9] << 8);
    if (head[6] > 1) {
        if (fread(head + 10, 1, 2, in) != 2)
            return fail(r, "the header is cut short"), NULL;
        length |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (length > MAX_HEADER)
        return fail(r, "the header is too long"), NULL;
    char *text = arena_alloc(r->arena, length + 1);
    if (fread(text, 1, length, in) != length)
        return fail(r, "the header is cut short"), NULL;
    if (strlen(text) != length)
        return fail(r, "the header holds a zero byte"), NULL;
    return text;
}

// Bytes from here to the end, or -1 where that cannot be known.
static int64_t bytes_left(FILE *in)
{
    struct stat st;
    long here = ftell(in);
    if (here < 0 || fstat(fileno(in), &st) != 0 || !S_ISREG(st.st_mode))
        return -1;
    return (int64_t)st.st_size - here;
}

static bool check_size(Reader *r, FILE *in, const Header *h)
{
    int64_t bytes = dtype_bytes(h->type), left = bytes_left(in);
    bool empty = false;
    for (int k = 0; k < h->rank; k++)
        empty |= h->extent[k] == 0;
    for (int k = 0; k < h->rank && !empty; k++)
        if (__builtin_mul_overflow(bytes, h->extent[k], &bytes))
            return fail(r, "the shape is too large");
    if (empty)
        bytes = 0;
    if (left >= 0 && left != bytes)
        return fail(r, arena_printf(r->arena, "%" PRId64 " bytes of elements where %s of %s has %" PRId64, left,
                                    array_shape_text(r->arena, h->rank, h->extent), dtype_name(h->type), bytes));
    return true;
}

static void swap_bytes(Array *x)
{
    int n = dtype_bytes(x->type);
    unsigned char *p = x->data;
    for (int64_t k = 0; k < x->size; k++, p += n)
        for (int b = 0; b < n / 2; b++) {
            unsigned char t = p[b];
            p[b] = p[n - 1 - b];
            p[n - 1 - b] = t;
        }
}

// From column-major to row-major: the element at row-major place k comes from the place that its index has there.
static Array *transpose(Arena *a, const Array *x, const char **error)
{
    Array *y = array_new(a, x->type, x->rank, x->extent, error);
    if (!y)
        return NULL;
    size_t n = (size_t)dtype_bytes(x->type);
    int64_t at[ARRAY_MAX_RANK] = {0}, stride[ARRAY_MAX_RANK], from = 0;
    for (int d = 0; d < x->rank; d++)
        stride[d] = d ? stride[d - 1] * x->extent[d - 1] : 1;
    for (int64_t k = 0; k < x->size; k++) {
        memcpy((char *)y->data + (size_t)k * n, (const char *)x->data + (size_t)from * n, n);
        for (int d = x->rank - 1; d >= 0; d--) {
            from += stride[d];
            if (++at[d] < x->extent[d])
                break;
            from -= stride[d] * x->extent[d];
            at[d] = 0;
        }
    }
    return y;
}

static void normalize_bools(Array *x)
{
    unsigned char *p = x->data;
    for (int64_t k = 0; k < x->size; k++)
        p[k] = p[k] != 0;
}

static Array *read_elements(Reader *r, FILE *in, const Header *h)
{
    Array *x = array_new(r->arena, h->type, h->rank, h->extent, &r->error);
    if (!x)
        return NULL;
    size_t bytes = (size_t)array_bytes(x);
    if (fread(x->data, 1, bytes, in) != bytes)
        return fail(r, "the elements are cut short"), NULL;
    if (fgetc(in) != EOF)
        return fail(r, "bytes after the elements"), NULL;
    if (h->swap)
        swap_bytes(x);
    if (h->type == DT_BOOL)
        normalize_bools(x);
    return h->fortran && h->rank > 1 ? transpose(r->arena, x, &r->error) : x;
}

Array *npy_read(Arena *a, FILE *in, const char *path, const char **error)
{
    Reader r = {.arena = a};
    Header h = {.rank = 0};
    r.at = read_header_text(&r, in);
    Array *x = r.at && read_dictionary(&r, &h) && check_size(&r, in, &h) ? read_elements(&r, in, &h) : NULL;
    if (!x)
        *error = arena_printf(a, "%s: %s", path, r.error ? r.error : "cannot be read");
    return x;
}

// ---- writing ----

static const char *code_of(DType t)
{
    for (int k = 0; k < NCODES; k++)
        if (codes[k].type == (t == DT_BF16 ? DT_U16 : t))
            return codes[k].code;
    return "i8";
}

bool npy_write(Arena *a, FILE *out, const Array *x)
{
    const char *shape = "";
    for (int k = 0; k < x->rank; k++)
        shape = arena_printf(a, "%s%" PRId64 "%s", shape, x->extent[k], x->rank == 1 ? "," : k + 1 < x->rank ? ", " : "");
    char order = dtype_bytes(x->type) == 1 ? '|' : host_is_big() ? '>' : '<';
    const char *text = arena_printf(a, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }", order, code_of(x->type), shape);
    size_t length = (10 + strlen(text) + 1 + 63) / 64 * 64 - 10;
    unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(length & 255), (unsigned char)(length >> 8)};
    fwrite(head, 1, sizeof head, out);
    fprintf(out, "%-*s\n", (int)length - 1, text);
    size_t bytes = (size_t)array_bytes(x);
    return fwrite(x->data, 1, bytes, out) == bytes && !ferror(out);
}
