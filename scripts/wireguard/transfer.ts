/**
 * A TCP connection over the private network that shows a changed byte. Started in a peer's namespace by traffic.ts.
 *
 *   node transfer.ts serve ADDRESS              echoes; prints its port
 *   node transfer.ts send ADDRESS PORT BYTES    sends random bytes and reads them back; prints `same` or what is wrong
 */
import { createHash, randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer } from 'node:net';

const PIECE_BYTES = 64 * 1024;

const [mode, address = '', port, bytes] = process.argv.slice(2);
if (mode === 'serve') serve();
else await send(Number(bytes));

function serve(): void {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  server.listen(0, address, () => console.log(`port ${(server.address() as AddressInfo).port}`));
}

async function send(total: number): Promise<void> {
  const socket = connect({ host: address, port: Number(port), allowHalfOpen: true });
  const came = createHash('sha256');
  let received = 0;
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('end', resolve);
  });
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    came.update(chunk);
  });
  const went = createHash('sha256');
  for (let sent = 0; sent < total; sent += PIECE_BYTES) {
    const piece = randomBytes(Math.min(PIECE_BYTES, total - sent));
    went.update(piece);
    if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
  }
  socket.end();
  await ended;
  console.log(came.digest('hex') === went.digest('hex') ? 'same' : `different: ${received} of ${total} bytes came`);
}
