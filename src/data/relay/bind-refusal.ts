/**
 * Why the public UDP port of a private network is not bound, in words for the person at the agent: what is wrong, and who mends it how. Used by
 * relay-registry.ts, which logs the error beside; the agent tries again whatever it was.
 */
import { codeOf } from '../../base/errors.ts';
import type { RelayEnd } from './relay.ts';

/** `error`: what the system said to a bind of `host` and `port`. */
export function bindRefusal(error: unknown, host: string, port: number): RelayEnd {
  const code = codeOf(error);
  const lead = `The server can not open the UDP port ${port} of this network`;
  return { code: 'no_port_free', message: `${lead}: ${reasonOf(code, host, port)}` };
}

function reasonOf(code: string | undefined, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `another program has it. The operator of the server finds it with "ss -ulpn sport = :${port}" and ends it, or sets edge.udp_ports to a range that is free; then register the network's server again: culvert network set-server`;
    case 'EACCES':
    case 'EPERM':
      return `its system does not let it (${code}). The operator of the server sets edge.udp_ports to a range above 1023, or gives the server the right (CAP_NET_BIND_SERVICE; a sandbox or SELinux may forbid it too)`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAFNOSUPPORT':
      return `its machine has no address ${host} (${code}). The operator of the server sets edge.udp_host to an address that the machine has, or to "0.0.0.0" for all of them, and starts it again`;
    case 'EMFILE':
    case 'ENFILE':
      return `it has as many files and sockets open as it may (${code}). The operator of the server raises the limit (LimitNOFILE, ulimit -n)`;
    default:
      return `${code ?? 'its system'} says no. The operator of the server finds more in its log`;
  }
}
