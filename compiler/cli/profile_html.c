// The report: one HTML file with everything in it. Its parts are data, in share/pto/report: page.html has places for the style,
// the scripts and the profile. Nothing in it is fetched from anywhere.
#include "cli/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// In this order: each uses what the ones before it define.
static const char *const scripts[] = {"base.js", "heat.js", "curves.js", "timeline.js", "memory.js", "graph.js", "roofline.js", "tables.js", "main.js"};

// The text of a part, or NULL and *error.
static const char *read_part(const Profile *p, const char *name, const char **error)
{
    const char *path = arena_printf(p->arena, "%s/report/%s", p->call->unit.places.data, name);
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0;
    ssize_t n = f ? getdelim(&text, &size, '\0', f) : -1;
    const char *copy = n >= 0 ? arena_strndup(p->arena, text, (size_t)n) : NULL;
    if (!copy)
        *error = arena_printf(p->arena, "%s: %s", path, f ? "cannot be read" : strerror(errno));
    if (f)
        fclose(f);
    free(text);
    return copy;
}

static bool put_part(const Profile *p, FILE *out, const char *name, const char **error)
{
    const char *text = read_part(p, name, error);
    if (text)
        fputs(text, out);
    return text != NULL;
}

// What goes where the page says @name@.
static bool put_place(const Profile *p, FILE *out, const char *name, size_t n, const char **error)
{
    if (strncmp(name, "style", n) == 0)
        return put_part(p, out, "style.css", error);
    if (strncmp(name, "data", n) == 0)
        profile_json(p, out, true);
    bool ok = true;
    for (size_t k = 0; strncmp(name, "script", n) == 0 && ok && k < sizeof scripts / sizeof *scripts; k++)
        ok = put_part(p, out, scripts[k], error);
    return ok;
}

bool profile_html(const Profile *p, FILE *out, const char **error)
{
    const char *page = read_part(p, "page.html", error), *place;
    for (; page && (place = strchr(page, '@')); ) {
        const char *end = strchr(place + 1, '@');
        fwrite(page, 1, (size_t)(place - page), out);
        if (!end)
            break;
        if (!put_place(p, out, place + 1, (size_t)(end - place - 1), error))
            return false;
        page = end + 1;
    }
    if (page)
        fputs(page, out);
    return page != NULL;
}
