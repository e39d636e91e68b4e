// Which sanitizer this build is instrumented with: gcc and clang say it in different ways.
#ifndef PTOC_BASE_SANITIZE_H
#define PTOC_BASE_SANITIZE_H

#if defined(__has_feature)
#define SANITIZE_HAS(feature) __has_feature(feature)
#else
#define SANITIZE_HAS(feature) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SANITIZE_HAS(address_sanitizer)
#define UNDER_ASAN 1
#else
#define UNDER_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || SANITIZE_HAS(thread_sanitizer)
#define UNDER_TSAN 1
#else
#define UNDER_TSAN 0
#endif

#endif
