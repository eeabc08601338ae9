/**
 * What a server can do beyond the first version of the protocol, as its `welcome` lists it. For what an agent must not go without: an older server
 * leaves unknown fields of a claim out of account, so the agent looks here first, and claims nothing where the feature is missing.
 */

/** Features of this server. */
export const FEATURES = [
  'upstream', // `claim.upstream`: upstream-form.ts
  'advice', // the message `advice`
  'routes', // `claim.routes`: path-routes.ts
  'peers', // `attach.peers`, and the message of that name
] as const;
export type Feature = (typeof FEATURES)[number];
