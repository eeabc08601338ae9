/** A TCP connection between an agent and a server, which a test can hold up in the direction of the server. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

interface Scope {
  after(fn: () => void): void;
}

export interface HeldLink {
  /** Where agents dial. */
  readonly port: number;
  /** Resolves when nothing has passed for some turns of the loop. */
  quiet(): Promise<void>;
  /** From now on what the agent sends waits here. */
  hold(): void;
  /** Resolves once so many bytes, or more, wait. */
  holds(bytes: number): Promise<void>;
  /** Resolves once the server has sent something since `hold`. */
  sent(): Promise<void>;
  /** Lets go of what waits, and of what comes. */
  release(): void;
}

const QUIET_TURNS = 50;

/** A link to `port` of this machine. */
export async function heldLink(t: Scope, port: number): Promise<HeldLink> {
  const sockets: Socket[] = [];
  let held: Array<() => void> | null = null;
  let [heldBytes, downBytes, passed] = [0, 0, 0];
  const server = createServer({ noDelay: true }, (agent) => {
    const up = connect({ port, host: '127.0.0.1', noDelay: true });
    sockets.push(agent, up);
    agent.on('data', (bytes) => {
      passed++;
      heldBytes += bytes.length;
      if (held === null) up.write(bytes);
      else held.push(() => up.write(bytes));
    });
    up.on('data', (bytes) => {
      passed++;
      downBytes += bytes.length;
      agent.write(bytes);
    });
    for (const [one, other] of [
      [agent, up],
      [up, agent],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await turn();
  };
  return {
    port: (server.address() as AddressInfo).port,
    quiet: async () => {
      for (let turns = 0, seen = passed; turns < QUIET_TURNS; turns++) {
        await turn();
        if (seen !== passed) [turns, seen] = [0, passed];
      }
    },
    hold: () => {
      held = [];
      heldBytes = downBytes = 0;
    },
    holds: (bytes) => until(() => heldBytes >= bytes),
    sent: () => until(() => downBytes > 0),
    release: () => {
      for (const pass of held ?? []) pass();
      held = null;
    },
  };
}
