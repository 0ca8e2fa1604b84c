"""The back end without a language model: it plans, searches and quotes passages, and judges nothing.

Pure, synchronous and deterministic: one function a role, its typed input and, where it reads evidence, the
bodies of the input's evidence references in the same order; each is the `fallback` of its role
(`activities.roles.role.RoleSpec`). No network, no key, no clock."""
