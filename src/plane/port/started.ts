/** How the start of a data node went, as its thread tells it. */
import type { NodeAddresses } from '../link.ts';

export type NodeStarted =
  | { readonly ok: true; readonly addresses: NodeAddresses }
  | { readonly ok: false; readonly message: string; readonly code: string | undefined };
