/**
 * Reads of a socket into a buffer of ours, without a Buffer and a stream event per read. Node offers this for sockets that one
 * dials (`onread`), not for those that a server accepted; there we set the same fields that `onread` sets. They are found by
 * name and checked: on a Node that no longer has them the socket falls back to 'data' events, which cost 17 % more processor
 * time per request (measured) and change nothing else. `socket.test.ts` fails when the fast way is gone.
 */
import { Socket } from 'node:net';

/** Takes `bytes[start, start + count)`; they may be reused once it returns, unless its slab is held. False pauses the socket. */
export type ReadCallback = (bytes: Buffer, start: number, count: number) => boolean;

/** Where the next read goes. */
export interface ReadTarget {
  /** The buffer to read into now. */
  view(): Buffer;
  /** It is the same buffer every time: `view` is asked once. */
  readonly hasFixedView?: boolean;
  /** `count` bytes were read into the last view: use them. False pauses the socket. */
  filled(count: number): boolean;
  /** A chunk that Node allocated (fallback). False pauses the socket. */
  chunk(bytes: Buffer): boolean;
}

interface StreamHandle {
  reading: boolean;
  readStart(): number;
  readStop(): number;
  useUserBuffer(buffer: Uint8Array): void;
}

type ReadSlots = Record<symbol, Buffer | ((count: number) => boolean) | (() => Buffer | null)>;

interface ResetHandle {
  reset?(done: () => void): number;
}

/** The symbols under which node:net keeps what `onread` sets; undefined on a Node that has them no longer. */
const FIELDS = findFields(new Socket());

/**
 * Starts reading `socket` into `target`. The socket must not have been read from. Returns true when the fast way is used.
 */
export function readInto(socket: Socket, target: ReadTarget): boolean {
  const handle = handleOf(socket);
  if (handle === undefined || FIELDS === undefined) {
    socket.on('data', (chunk: Buffer) => {
      if (!target.chunk(chunk)) socket.pause();
    });
    return false;
  }
  const first = target.view();
  const slots = socket as unknown as ReadSlots;
  slots[FIELDS.kBuffer] = first;
  slots[FIELDS.kBufferCb] = (count) => target.filled(count);
  if (target.hasFixedView !== true) slots[FIELDS.kBufferGen] = nextView(target, first);
  handle.useUserBuffer(first);
  // What came in before (a TLS socket decrypts while it shakes hands) is delivered as ordinary chunks.
  for (;;) {
    const early = socket.read() as Buffer | null;
    if (early === null) break;
    if (!target.chunk(early)) {
      stopReading(handle);
      return true;
    }
  }
  // Not `resume`: a flowing stream costs two more turns of its machinery per connection. This one only starts the handle, and
  // tells of the end.
  socket.read(0);
  return true;
}

/** Handing Node the same buffer again would cost a crossing into C++ per read: null keeps it. */
function nextView(target: ReadTarget, first: Buffer): () => Buffer | null {
  let current = first;
  return () => {
    const next = target.view();
    if (next === current) return null;
    current = next;
    return next;
  };
}

function stopReading(handle: StreamHandle): void {
  if (!handle.reading) return;
  handle.reading = false;
  handle.readStop();
}

/** Reads on after a callback returned false. */
export function resumeReading(socket: Socket): void {
  if (socket.destroyed) return;
  const handle = handleOf(socket);
  if (handle === undefined || FIELDS === undefined) {
    socket.resume();
  } else if (!handle.reading) {
    handle.reading = true;
    handle.readStart();
  }
}

/**
 * Cuts a connection so that its peer sees a cut (RST), not an end that it could take for a complete message. Under TLS too: that no
 * close_notify came would say the same, but many clients take a bare end for a good one, Node's own among them.
 */
export function cutSocket(socket: Socket): void {
  if (!socket.connecting && !socket.destroyed) {
    // Node refuses to reset a TLSSocket, so the TCP connection below it is: a socket where TLS was accepted, a handle where it was dialled.
    const tls = socket as unknown as {
      encrypted?: boolean;
      _parent?: Socket | null;
      _handle?: { _parent?: ResetHandle } | null;
    };
    if (tls.encrypted !== true) reset(socket);
    else if (tls._parent) reset(tls._parent);
    else tls._handle?._parent?.reset?.(() => undefined);
  }
  socket.destroy();
}

/** Not while its end is on the way to the kernel: that can't be taken back, and Node would lose sight of the handle and keep it open for ever. */
function reset(socket: Socket): void {
  if (!socket.writableEnded || socket.writableFinished) socket.resetAndDestroy();
}

/** The TCP connection under a TLS one that was accepted; undefined where it was dialled, and on a Node that no longer says. */
export function socketBelow(tls: Socket): Socket | undefined {
  return (tls as unknown as { _parent?: Socket | null })._parent ?? undefined;
}

/** A read target that always reads into the one buffer of a pool: for consumers that copy what they keep. */
export function sharedTarget(buffer: Buffer, onBytes: ReadCallback): ReadTarget {
  return {
    hasFixedView: true,
    view: () => buffer,
    filled: (count) => onBytes(buffer, 0, count),
    chunk: (bytes) => onBytes(bytes, 0, bytes.length),
  };
}

function handleOf(socket: Socket): StreamHandle | undefined {
  const handle = (socket as unknown as { _handle?: StreamHandle | null })._handle;
  return handle && typeof handle.useUserBuffer === 'function' ? handle : undefined;
}

function findFields(socket: Socket): { kBuffer: symbol; kBufferCb: symbol; kBufferGen: symbol } | undefined {
  const found: Partial<Record<string, symbol>> = {};
  for (const symbol of Object.getOwnPropertySymbols(socket)) found[symbol.description ?? ''] = symbol;
  const { kBuffer, kBufferCb, kBufferGen } = found as Record<string, symbol | undefined>;
  if (kBuffer === undefined || kBufferCb === undefined || kBufferGen === undefined) return undefined;
  return { kBuffer, kBufferCb, kBufferGen };
}
