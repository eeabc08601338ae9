/**
 * A name server that knows one name: it answers A questions with 10.99.0.2 and says of all else that there is none. A process of its own,
 * to be started in the server's namespace: `node name-server.ts`. Prints "ready".
 */
import { createSocket } from 'node:dgram';

const ADDRESS = [10, 99, 0, 2];
const TYPE_A = 1;
const HEADER_BYTES = 12;

const socket = createSocket('udp4');
socket.on('message', (question, from) => {
  let end = HEADER_BYTES;
  while (end < question.length && question[end] !== 0) end += (question[end] ?? 0) + 1;
  end += 5; // the empty label, type, class
  if (end > question.length) return;
  const wantsAddress = question.readUInt16BE(end - 4) === TYPE_A;
  const header = Buffer.alloc(HEADER_BYTES);
  question.copy(header, 0, 0, 2);
  header.writeUInt16BE(0x8580, 2); // an authoritative answer without error
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(wantsAddress ? 1 : 0, 6);
  // A pointer to the question's name, type A, class IN, 5 seconds, four bytes.
  const answer = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 5, 0, 4, ...ADDRESS]);
  const parts = [header, question.subarray(HEADER_BYTES, end), ...(wantsAddress ? [answer] : [])];
  socket.send(Buffer.concat(parts), from.port, from.address);
});
socket.bind(53, '0.0.0.0', () => console.log('ready'));
