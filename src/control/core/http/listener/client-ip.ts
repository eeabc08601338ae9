/**
 * Whose request this is: the socket's address, or, behind proxies that the operator trusts, the nearest address in X-Forwarded-For
 * that is not one of theirs. Any client can write that header, so it is read from the right, and only as far as trust goes.
 */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { ipv6Words, type NetworkSet, plainIp } from '../../../../base/net/addr.ts';
import type { Logger } from '../../../../base/log.ts';

const MAX_LOGGED = 100;

export class ClientIps {
  readonly #trusted: NetworkSet;
  readonly #log: Logger;
  #hasWarned = false;

  constructor(trusted: NetworkSet, log: Logger) {
    this.#trusted = trusted;
    this.#log = log;
  }

  /** `forwardedFor`: the header as received. Never throws; answers with the last address that it is sure of. */
  find(socketAddress: string, forwardedFor: string | undefined): string {
    let address = plainIp(socketAddress);
    if (forwardedFor === undefined) return address;
    for (const hop of forwardedFor.split(',').reverse()) {
      if (!this.#trusted.has(address)) return address;
      const next = addressOf(hop.trim());
      if (next === undefined) {
        this.#warn(address, hop);
        return address;
      }
      address = next;
    }
    return address;
  }

  /** Once: it is the same for every request, and it makes all visitors of that proxy one source. */
  #warn(proxy: string, hop: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#log.warn(
      { proxy, said: hop.trim().slice(0, MAX_LOGGED) },
      'a trusted proxy sent an invalid X-Forwarded-For, so all its visitors count as one client. Configure it to send IP addresses',
    );
  }
}

/** Reads `203.0.113.7`, `2001:db8::1` or `[2001:db8::1]`, the first and the last also with a port behind them, as some proxies write it. */
function addressOf(hop: string): string | undefined {
  if (isIP(hop) !== 0) return plainIp(hop);
  const [, v6 = '', v4 = ''] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(hop) ?? [];
  if (isIPv6(v6)) return plainIp(v6);
  return isIPv4(v4) ? v4 : undefined;
}

/** What limits count by: an IPv4 address, or the /64 that one IPv6 subscriber owns. */
export function limitKey(address: string): string {
  const plain = plainIp(address);
  return isIPv6(plain) ? `${ipv6Words(plain).slice(0, 4).join(':')}::/64` : plain;
}
