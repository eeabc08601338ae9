/** A connection to a public TCP port that waits for the tunnel's agent. Made by edge/tcp/tcp.ts. */
import type { Socket } from 'node:net';
import type { RouteEntry } from '../../routing/entry.ts';
import type { Hold, HoldEnd, Holds } from '../exchange/holds.ts';

/**
 * Node reads into the socket's own buffer until that is full, and no further; the kernel and its window hold back the rest. Nothing is read from
 * there, so that the connection goes on as if it had just been accepted.
 */
const BUFFERED_BYTES = 65_536;

/**
 * Holds `socket` until something is known of the agent. `onEnd` is called once, later, unless the visitor leaves before; then the socket is gone. False:
 * there is no room, and nothing waits.
 */
export function holdSocket(
  socket: Socket,
  entry: RouteEntry,
  holds: Holds,
  onEnd: (why: Exclude<HoldEnd, 'left'>) => void,
): boolean {
  const hold: Hold | null = holds.wait(entry, {
    bytes: BUFFERED_BYTES,
    onEnd: (why) => {
      socket.off('end', onLeft).off('error', onLeft).off('close', onLeft);
      // A reset may be on its way, and nothing handles it any more.
      socket.on('error', () => undefined);
      if (why === 'left') socket.destroy();
      else onEnd(why);
    },
  });
  if (hold === null) return false;
  // `end` comes only when nothing is buffered: a visitor that has sent something and ends its direction still gets its answer.
  const onLeft = (): void => hold.leave();
  socket.on('end', onLeft).on('error', onLeft).on('close', onLeft);
  return true;
}
