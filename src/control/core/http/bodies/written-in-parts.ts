/**
 * A long answer that is written part by part as its reader takes it, so that neither the loop nor the memory of the connection has all of it
 * at once. Called by routes.
 */
import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';

interface Parts {
  readonly parts: readonly Uint8Array[];
  /** Of all parts. */
  readonly byteLength: number;
}

interface Reading {
  /** Who has not taken all of it by then is cut off. */
  readonly withinMs: number;
  /** Called once, when it is over in whatever way. */
  readonly afterwards: () => void;
}

/** The answer, with the fields that the context has. */
export function writtenInParts(
  c: Context<ApiEnv>,
  { parts, byteLength }: Parts,
  { withinMs, afterwards }: Reading,
): Response {
  const { outgoing } = c.env;
  // `close` comes after the last byte was handed to the system, and when the caller goes away before.
  const timer = setTimeout(() => outgoing.destroy(), withinMs);
  const end = (): void => {
    clearTimeout(timer);
    afterwards();
  };
  if (outgoing.closed) end();
  else outgoing.once('close', end);
  c.header('Content-Length', String(byteLength));
  return c.body(ReadableStream.from(parts) as ReadableStream, 200);
}
