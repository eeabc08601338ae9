/**
 * Why the public UDP port of a private network is not bound, in words for the person at the agent: what is wrong, and who mends it how. Used by
 * relay-registry.ts, which logs the error beside; the agent tries again whatever it was.
 */
import { codeOf } from '../../base/errors.ts';
import type { RelayEnd } from './relay.ts';

/** `error`: what the system said to a bind of `host` and `port`. */
export function bindRefusal(error: unknown, host: string, port: number): RelayEnd {
  const code = codeOf(error);
  const lead = `The server cannot open the UDP port ${port} of this network`;
  return { code: 'no_port_free', message: `${lead}: ${reasonOf(code, host, port)}` };
}

function reasonOf(code: string | undefined, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `another program uses it. The operator can find that program with "ss -ulpn sport = :${port}" and stop it, or set edge.udp_ports to a free range. Then register the network's server again: culvert network set-server`;
    case 'EACCES':
    case 'EPERM':
      return `permission denied (${code}). The operator can set edge.udp_ports to a range above 1023, or grant CAP_NET_BIND_SERVICE. A sandbox or SELinux can also be the cause`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAFNOSUPPORT':
      return `no interface of the server has the address ${host} (${code}). The operator can set edge.udp_host to an address of the machine, or to "0.0.0.0" for all interfaces, and restart the server`;
    case 'EMFILE':
    case 'ENFILE':
      return `the server has reached its limit of open files (${code}). The operator can raise LimitNOFILE or ulimit -n`;
    default:
      return `the bind failed (${code ?? 'no error code'}). The operator can find details in the server log`;
  }
}
