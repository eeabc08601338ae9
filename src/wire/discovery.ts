/**
 * What `GET {server}/.well-known/culvert` tells an agent: where to dial and which server to expect there. Contract §2.
 */
import { z } from 'zod';

export const DISCOVERY_PATH = '/.well-known/culvert';

export const discovery = z.object({
  /** Version of the server, for display. */
  version: z.union([z.string().max(100), z.number()]),
  /** `host:port`, `[v6]:port`. */
  agent_address: z.string().min(3).max(300),
  /** All addresses, the first to try first; an older server names the one alone. */
  agent_addresses: z.array(z.string().min(3).max(300)).max(16).nullish(),
  /** Of the API and the dashboard; an older server does not say. */
  api_url: z.url().max(300).nullish(),
  /** `sha256:<hex>` of the SPKI; present when the agent certificate is self-signed. */
  agent_fingerprint: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/i)
    .nullish(),
  edge_domain: z.string().max(253),
  /** Which server this is; an older one does not say. */
  server_id: z.uuid().nullish(),
});

export type Discovery = z.infer<typeof discovery>;
