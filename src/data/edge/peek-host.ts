/**
 * The Host of a connection's first request, before the connection has an owner. For TLS connections that name no server: OpenSSL drops the name of
 * a session of TLS 1.2 that is resumed, and some proxies give none. Used by http.ts.
 */
import type { Socket } from 'node:net';

export interface PeekLimits {
  readonly headBytes: number;
  readonly headTimeoutMs: number;
}

/** Calls `onHost` once, with the bytes back in the socket; an empty text: the head is none, or names no host. Cuts a client that sends none in time. */
export function peekHost(
  socket: Socket,
  { headBytes, headTimeoutMs }: PeekLimits,
  onHost: (host: string) => void,
): void {
  let held: Buffer = Buffer.alloc(0);
  const settle = (): void => {
    clearTimeout(timer);
    socket.off('readable', onReadable).off('end', settle).off('error', ignore).off('close', onClose);
    if (held.length > 0) socket.unshift(held);
    onHost(hostIn(held.toString('latin1')));
  };
  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    // The end of a head may be spread over two reads.
    const from = Math.max(0, held.length - 3);
    held = Buffer.concat([held, chunk]);
    if (held.length > headBytes || held.includes('\r\n\r\n', from)) settle();
  };
  const onClose = (): void => clearTimeout(timer);
  const timer = setTimeout(() => socket.destroy(), headTimeoutMs);
  socket.on('readable', onReadable).on('end', settle).on('error', ignore).on('close', onClose);
}

/** The parser decides what is a head; this only has to find what it would. */
export function hostIn(head: string): string {
  // One pass: a pattern that looks for the spaces at the end takes seconds for 64 KB of them.
  return /^host:([^\r\n]*)/im.exec(head)?.[1]?.trim() ?? '';
}

function ignore(): void {}
