#pragma once

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/http.h>
#include <openssl/kdf.h>
#include <openssl/ocsp.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/x509_vfy.h>

#ifdef __linux__
#include <malloc.h>
#include <sys/prctl.h>

/* prctl is variadic, and Swift cannot call variadic C functions. */
static inline int smime_prctl_set_dumpable(int value) { return prctl(PR_SET_DUMPABLE, value, 0, 0, 0); }
static inline int smime_prctl_set_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline int smime_prctl_set_pdeathsig(int value) { return prctl(PR_SET_PDEATHSIG, value, 0, 0, 0); }
#endif

#if defined(__x86_64__)
/* Called only if the processor has these instructions. In the System V ABI, a call may change every vector register. So the compiler keeps
   nothing in them across a call that is not inlined, and the assembler code needs no list of changed registers. */
static inline __attribute__((noinline, target("avx512f"))) void smime_wipe_vectors_avx512(void)
{
    __asm__ volatile("vpxord %%zmm16, %%zmm16, %%zmm16\n\tvpxord %%zmm17, %%zmm17, %%zmm17\n\t"
                     "vpxord %%zmm18, %%zmm18, %%zmm18\n\tvpxord %%zmm19, %%zmm19, %%zmm19\n\t"
                     "vpxord %%zmm20, %%zmm20, %%zmm20\n\tvpxord %%zmm21, %%zmm21, %%zmm21\n\t"
                     "vpxord %%zmm22, %%zmm22, %%zmm22\n\tvpxord %%zmm23, %%zmm23, %%zmm23\n\t"
                     "vpxord %%zmm24, %%zmm24, %%zmm24\n\tvpxord %%zmm25, %%zmm25, %%zmm25\n\t"
                     "vpxord %%zmm26, %%zmm26, %%zmm26\n\tvpxord %%zmm27, %%zmm27, %%zmm27\n\t"
                     "vpxord %%zmm28, %%zmm28, %%zmm28\n\tvpxord %%zmm29, %%zmm29, %%zmm29\n\t"
                     "vpxord %%zmm30, %%zmm30, %%zmm30\n\tvpxord %%zmm31, %%zmm31, %%zmm31" ::: "memory");
}
static inline __attribute__((noinline, target("avx"))) void smime_wipe_vectors_avx(void) { __asm__ volatile("vzeroall" ::: "memory"); }
#endif

/* Overwrites secrets that earlier calls left behind: in the 32 KiB of stack below this call, where libcrypto keeps RSA exponents, and, on
   x86-64, in the vector registers. memcpy copies through these registers, and the dynamic linker saves them on the stack when a function is
   called for the first time. This is C, because Swift cannot allocate a large array on the stack. */
static inline __attribute__((noinline)) void smime_wipe_stack(void)
{
    unsigned char used[32768];
    OPENSSL_cleanse(used, sizeof used);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) smime_wipe_vectors_avx512();
    if (__builtin_cpu_supports("avx")) smime_wipe_vectors_avx();
#endif
}

// Swift cannot see function-like macros. Each shim below is one such macro under its own name, nothing more: no
// logic, no error handling, no ownership change.

static inline int smime_sk_X509_num(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *smime_sk_X509_value(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline STACK_OF(X509) *smime_sk_X509_new_null(void) { return sk_X509_new_null(); }
static inline int smime_sk_X509_push(STACK_OF(X509) *stack, X509 *certificate) { return sk_X509_push(stack, certificate); }
static inline void smime_sk_X509_pop_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
static inline void smime_sk_X509_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline STACK_OF(X509_CRL) *smime_sk_X509_CRL_new_null(void) { return sk_X509_CRL_new_null(); }
static inline int smime_sk_X509_CRL_push(STACK_OF(X509_CRL) *stack, X509_CRL *crl) { return sk_X509_CRL_push(stack, crl); }
static inline void smime_sk_X509_CRL_pop_free(STACK_OF(X509_CRL) *stack) { sk_X509_CRL_pop_free(stack, X509_CRL_free); }
static inline long smime_BIO_get_mem_data(BIO *bio, const char **data) { return BIO_get_mem_data(bio, (char **)data); }
static inline int smime_EVP_PKEY_KEYPAIR(void) { return EVP_PKEY_KEYPAIR; }
static inline int smime_EVP_PKEY_PUBLIC_KEY(void) { return EVP_PKEY_PUBLIC_KEY; }
static inline void smime_OPENSSL_free(void *pointer) { OPENSSL_free(pointer); }
static inline void smime_OPENSSL_clear_free(void *pointer, size_t count) { OPENSSL_clear_free(pointer, count); }

// String macros: Swift would pass a temporary copy, but OSSL_PARAM keeps the pointer it is given.
static inline const char *smime_OSSL_KDF_PARAM_DIGEST(void) { return OSSL_KDF_PARAM_DIGEST; }
static inline const char *smime_OSSL_KDF_PARAM_INFO(void) { return OSSL_KDF_PARAM_INFO; }
static inline const char *smime_OSSL_KDF_PARAM_KEY(void) { return OSSL_KDF_PARAM_KEY; }
static inline const char *smime_OSSL_KDF_PARAM_SALT(void) { return OSSL_KDF_PARAM_SALT; }
static inline const char *smime_OSSL_KDF_PARAM_SECRET(void) { return OSSL_KDF_PARAM_SECRET; }
static inline const char *smime_OSSL_PKEY_PARAM_RSA_N(void) { return OSSL_PKEY_PARAM_RSA_N; }
static inline const char *smime_OSSL_PKEY_PARAM_RSA_E(void) { return OSSL_PKEY_PARAM_RSA_E; }
static inline const char *smime_OSSL_PKEY_PARAM_RSA_D(void) { return OSSL_PKEY_PARAM_RSA_D; }
static inline const char *smime_OSSL_PKEY_PARAM_RSA_FACTOR1(void) { return OSSL_PKEY_PARAM_RSA_FACTOR1; }
static inline const char *smime_OSSL_PKEY_PARAM_RSA_FACTOR2(void) { return OSSL_PKEY_PARAM_RSA_FACTOR2; }
static inline const char *smime_OSSL_PKEY_PARAM_RSA_EXPONENT1(void) { return OSSL_PKEY_PARAM_RSA_EXPONENT1; }
static inline const char *smime_OSSL_PKEY_PARAM_RSA_EXPONENT2(void) { return OSSL_PKEY_PARAM_RSA_EXPONENT2; }
static inline const char *smime_OSSL_PKEY_PARAM_RSA_COEFFICIENT1(void) { return OSSL_PKEY_PARAM_RSA_COEFFICIENT1; }
