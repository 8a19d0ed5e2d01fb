// With one import, users of this module get the store, the agents and whole messages.
@_exported public import SMIME
@_exported public import SMIMEStore
