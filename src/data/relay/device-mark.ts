/** An enrolled device of a network, as the relay keeps it. Held by devices.ts; flows point to theirs. */
import type { RelayDevice } from '../../plane/relays.ts';
import { type Mac1State, mac1State } from './handshake/mac1.ts';

/** One device, and what is known of it since the last batch of events. */
export class DeviceMark {
  readonly deviceId: string;
  readonly publicKey: string;
  readonly mac1: Mac1State;
  /** Milliseconds since the epoch, or null. */
  expiresAt: number | null;
  isGone = false;
  /** Flows that are taken for it; counted by `came` and `left`. */
  flows = 0;
  /** Numbers of its sessions, the newest last. */
  readonly sessions: number[] = [];

  isNews = false;
  address = '';
  port = 0;
  heardMs = 0;
  handshakeMs: number | undefined;
  bytesIn = 0;
  bytesOut = 0;

  constructor({ deviceId, publicKey, expiresAt }: RelayDevice) {
    this.deviceId = deviceId;
    this.publicKey = publicKey;
    this.expiresAt = expiresAt;
    this.mac1 = mac1State(Buffer.from(publicKey, 'base64'));
  }
}
