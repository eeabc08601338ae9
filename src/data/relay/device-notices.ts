/**
 * Tells the agent of a network which devices may connect, for one that keeps its WireGuard in step (`culvert udp --manage`): all of them when it
 * attaches, and again after a change. One per network, asked about once a second: many changes are one notice, and a long one takes some seconds,
 * so that it waits for no agent in memory.
 */
import type { RelayDevice } from '../../plane/relays.ts';
import type { Carrier } from './carrier.ts';

/** Devices that are sent at a time. */
const AT_ONCE = 500;

export class DeviceNotices {
  #listener: Carrier | undefined;
  #isDue = true;
  /** When the next device of the last notice runs out. */
  #until = Infinity;
  /** What is left of a notice. */
  #rest: readonly RelayDevice[] = [];

  /** A device has come, gone or changed. */
  changed(): void {
    this.#isDue = true;
  }

  /** `listener`: the agent that carries the network now and wants to know. `now`: milliseconds since the epoch. */
  sweep(listener: Carrier | undefined, devices: ReadonlyMap<string, RelayDevice>, now: number): void {
    const isNew = listener !== this.#listener;
    this.#listener = listener;
    if (isNew) this.#rest = [];
    if (listener === undefined) return;
    if (this.#rest.length > 0) return this.#tell(listener, false);
    if (!isNew && !this.#isDue && now < this.#until) return;
    this.#isDue = false;
    this.#rest = this.#live(devices, now);
    this.#tell(listener, true);
  }

  #tell(listener: Carrier, isFirst: boolean): void {
    const some = this.#rest.slice(0, AT_ONCE);
    this.#rest = this.#rest.slice(AT_ONCE);
    listener.onDevices?.(some, isFirst, this.#rest.length === 0);
  }

  #live(devices: ReadonlyMap<string, RelayDevice>, now: number): RelayDevice[] {
    const live: RelayDevice[] = [];
    this.#until = Infinity;
    for (const device of devices.values()) {
      if (device.expiresAt !== null && device.expiresAt <= now) continue;
      live.push(device);
      if (device.expiresAt !== null) this.#until = Math.min(this.#until, device.expiresAt);
    }
    return live;
  }
}
