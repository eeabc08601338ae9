/** The shapes of the API by the names of its document. */
import type { components } from './schema.gen.ts';

export type Schemas = components['schemas'];
export type Account = Schemas['Account'];
export type Tunnel = Schemas['Tunnel'];
export type Token = Schemas['Token'];
export type Downloads = Schemas['Downloads'];
export type MintedToken = Schemas['MintedToken'];

/** From the weakest to the strongest. */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];
