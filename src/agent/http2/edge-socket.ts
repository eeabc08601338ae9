/** The end of a stream of the edge where the agent itself answers: what a pipe needs of a socket, and the codes of resets. */
import { Duplex } from 'node:stream';

/** What a response may be ahead of the edge before its stream is no longer read. */
const HIGH_WATER_BYTES = 262_144;

/** The stream of the edge at the socket's other end. */
export interface ResetPeer {
  /** Why the edge has reset it; 0: not said. */
  readonly resetCode: number;
  reset(code: number): void;
}

export abstract class EdgeSocket extends Duplex {
  /** As net.Socket has it. */
  readonly connecting = false;
  /** It is known what the service speaks. */
  abstract readonly isProven: boolean;
  /** Gets the codes of resets, and has those of the edge; null: there is no such stream. */
  peer: ResetPeer | null = null;

  constructor() {
    super({ readableHighWaterMark: HIGH_WATER_BYTES, allowHalfOpen: true });
  }

  setNoDelay(): this {
    return this;
  }

  resetAndDestroy(): this {
    return this.destroy();
  }
}
