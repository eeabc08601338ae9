/**
 * Fresh sockets of agents whose address has as many in the handshake as it may: a site that comes back after a restart of the server has a
 * thousand behind one address. They wait untouched for a place, in the order in which they came. Owned by anonymous.ts.
 */
import type { Socket } from 'node:net';
import { addressKey } from '../../../base/net/address-key.ts';

/** In all and of one address; beyond it a socket is refused. A waiting one costs a descriptor and 2 KB. */
const MAX_WAITING = 2_048;
const MAX_OF_ADDRESS = 1_024;
/** Under the 10 s after which an agent gives a handshake up. */
const WAIT_MS = 9_000;

interface Waiting {
  readonly socket: Socket;
  readonly begin: () => void;
  readonly timer: NodeJS.Timeout;
  readonly onClose: () => void;
}

export class AddressQueue {
  readonly #byAddress = new Map<string, Set<Waiting>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Holds a socket until `next` calls `begin`, or it is over. False: there is no room. */
  add(ip: string, socket: Socket, begin: () => void): boolean {
    const key = addressKey(ip);
    const line = this.#byAddress.get(key) ?? new Set<Waiting>();
    if (this.#size >= MAX_WAITING || line.size >= MAX_OF_ADDRESS) return false;
    const onClose = (): void => this.#remove(key, waiting);
    const timer = setTimeout(() => {
      this.#remove(key, waiting);
      socket.destroy();
    }, WAIT_MS).unref();
    const waiting: Waiting = { socket, begin, timer, onClose };
    // One that resets its connection meanwhile is closed right behind this.
    socket.on('error', ignore);
    socket.once('close', onClose);
    line.add(waiting);
    this.#byAddress.set(key, line);
    this.#size++;
    return true;
  }

  /** A place of this address is free: the first that waits has it. */
  next(ip: string): void {
    const key = addressKey(ip);
    for (const waiting of this.#byAddress.get(key) ?? []) {
      this.#remove(key, waiting);
      waiting.begin();
      return;
    }
  }

  /** Destroys all that wait. */
  close(): void {
    for (const [key, line] of [...this.#byAddress]) {
      for (const waiting of [...line]) {
        this.#remove(key, waiting);
        waiting.socket.destroy();
      }
    }
  }

  #remove(key: string, waiting: Waiting): void {
    const line = this.#byAddress.get(key);
    if (line?.delete(waiting) !== true) return;
    this.#size--;
    if (line.size === 0) this.#byAddress.delete(key);
    clearTimeout(waiting.timer);
    waiting.socket.off('close', waiting.onClose);
  }
}

function ignore(): void {}
