#pragma once

// What this program uses of libldap 2.4 or later, as ldap.h and lber.h of OpenLDAP declare it. The program loads the library with dlopen
// when it searches a directory, so this header declares function types and no functions. It includes no other header: the declarations of
// an included header would belong to this module.

typedef struct ldap LDAP;
typedef struct ldapmsg LDAPMessage;
typedef struct berelement BerElement;
typedef struct sockbuf Sockbuf;

struct berval {
    unsigned long bv_len;
    char *bv_val;
};

enum {
    LDAP_SUCCESS = 0, LDAP_TIMELIMIT_EXCEEDED = 3, LDAP_SIZELIMIT_EXCEEDED = 4, LDAP_TIMEOUT = -5,
    LDAP_CONNECT_ERROR = -11
};
enum { LDAP_MSG_ONE = 0, LDAP_RES_SEARCH_ENTRY = 0x64, LDAP_RES_SEARCH_RESULT = 0x65 };
enum { LDAP_SCOPE_BASE = 0, LDAP_SCOPE_ONELEVEL = 1, LDAP_SCOPE_SUBTREE = 2 };
enum { LDAP_VERSION3 = 3, LDAP_DEREF_NEVER = 0, LDAP_OPT_X_TLS_DEMAND = 2, LDAP_OPT_X_TLS_TRY = 4, LDAP_OPT_X_TLS_PROTOCOL_TLS1_2 = 0x303 };
enum {
    LDAP_OPT_DEREF = 0x2, LDAP_OPT_REFERRALS = 0x8, LDAP_OPT_PROTOCOL_VERSION = 0x11, LDAP_OPT_RESULT_CODE = 0x31, LDAP_OPT_TIMEOUT = 0x5002,
    LDAP_OPT_NETWORK_TIMEOUT = 0x5005, LDAP_OPT_SOCKBUF = 0x5008, LDAP_OPT_CONNECT_CB = 0x5011, LDAP_OPT_X_TLS_CACERTFILE = 0x6002,
    LDAP_OPT_X_TLS_REQUIRE_CERT = 0x6006, LDAP_OPT_X_TLS_PROTOCOL_MIN = 0x6007, LDAP_OPT_X_TLS_NEWCTX = 0x600f,
    LDAP_OPT_X_TLS_REQUIRE_SAN = 0x601a
};
enum { LBER_SB_OPT_GET_FD = 1, LBER_SB_OPT_SET_MAX_INCOMING = 14 };

// libldap calls lc_add after it made a connection, and lc_del before it closes one.
struct ldap_conncb {
    int (*lc_add)(LDAP *connection, Sockbuf *buffer, void *server, void *address, struct ldap_conncb *context);
    void (*lc_del)(LDAP *connection, Sockbuf *buffer, struct ldap_conncb *context);
    void *lc_arg;
};

typedef int (*ldap_initialize_function)(LDAP **connection, const char *url);
typedef int (*ldap_unbind_ext_s_function)(LDAP *connection, void **serverControls, void **clientControls);
typedef int (*ldap_get_option_function)(LDAP *connection, int option, void *value);
typedef int (*ldap_set_option_function)(LDAP *connection, int option, const void *value);
typedef int (*ldap_start_tls_s_function)(LDAP *connection, void **serverControls, void **clientControls);
typedef int (*ldap_sasl_bind_s_function)(
    LDAP *connection, const char *name, const char *mechanism, struct berval *credentials, void **serverControls,
    void **clientControls, struct berval **serverCredentials);
// Timeouts are a struct timeval.
typedef int (*ldap_search_ext_function)(
    LDAP *connection, const char *base, int scope, const char *filter, char **attributes, int namesOnly,
    void **serverControls, void **clientControls, void *timeout, int sizeLimit, int *identifier);
typedef int (*ldap_result_function)(LDAP *connection, int identifier, int all, void *timeout, LDAPMessage **result);
typedef int (*ldap_parse_result_function)(
    LDAP *connection, LDAPMessage *result, int *code, char **matched, char **text, char ***referrals, void ***controls, int frees);
typedef LDAPMessage *(*ldap_first_entry_function)(LDAP *connection, LDAPMessage *result);
typedef char *(*ldap_first_attribute_function)(LDAP *connection, LDAPMessage *entry, BerElement **position);
typedef char *(*ldap_next_attribute_function)(LDAP *connection, LDAPMessage *entry, BerElement *position);
typedef struct berval **(*ldap_get_values_len_function)(LDAP *connection, LDAPMessage *entry, const char *attribute);
typedef void (*ldap_value_free_len_function)(struct berval **values);
typedef int (*ldap_msgfree_function)(LDAPMessage *result);
typedef void (*ldap_memfree_function)(void *memory);
typedef char *(*ldap_err2string_function)(int code);
typedef void (*ber_free_function)(BerElement *element, int freesBuffer);
typedef int (*ber_sockbuf_ctrl_function)(Sockbuf *buffer, int option, void *value);
