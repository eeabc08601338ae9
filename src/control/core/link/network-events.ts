/**
 * What services say about private networks after a commit, and never before it. Implemented by publisher.ts; they see no deltas, versions or
 * listeners.
 */
import type { RelayDevice, RelayEndCode, RelayRoute } from '../../../plane/relays.ts';

export interface NetworkEvents {
  /** A network got a relay, or something of it changed: all of it, its devices too. */
  put(relay: RelayRoute): void;
  /** It has no relay any more. Of a network that had none it may be said too. */
  gone(networkId: string, code: RelayEndCode, message: string): void;
  /** A device was enrolled or changed. */
  device(networkId: string, device: RelayDevice): void;
  /** A device was revoked, or its time has run out. */
  deviceGone(networkId: string, deviceId: string): void;
}
