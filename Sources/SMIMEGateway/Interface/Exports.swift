// One import provides the gateway, the store and whole messages.
@_exported public import SMIMEAgent
