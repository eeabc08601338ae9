/**
 * An agent that speaks the protocol by hand, and a calm tunnel beside it: whatever the one does, the other must go on. Used by tests alone.
 */
import assert from 'node:assert/strict';
import { HEADER_BYTES, type TYPE, writeHeader } from '../../../mux/frame.ts';
import type { MuxStream } from '../../../mux/stream.ts';
import { CONNECTED_REPLY } from '../../../wire/preamble.ts';
import { TestAgent } from '../../fixtures/agent.ts';
import type { FaultCode } from '../../../base/codes/edge-faults.ts';
import { httpOrigin, Rig, type RigOptions, type Scope } from './rig.ts';

/** A stream as the agent has it: what came, and what it says. */
export class Line {
  readonly stream: MuxStream;
  /** What came behind the preamble, latin1. */
  text = '';
  /** Heads that came. */
  heads = 0;
  #replied = false;

  constructor(stream: MuxStream) {
    this.stream = stream;
  }

  /** Says `text` (latin1) as the service's, behind the reply. */
  say(text: string): void {
    const bytes = Buffer.from(text, 'latin1');
    this.stream.write(this.#replied ? bytes : Buffer.concat([CONNECTED_REPLY, bytes]));
    this.#replied = true;
  }

  /** Says `text` where the reply should be. */
  raw(text: string): void {
    this.#replied = true;
    this.stream.write(Buffer.from(text, 'latin1'));
  }
}

export const OWN = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nown';
const PREAMBLE_BYTES = 5;

export class HostileRig {
  readonly rig: Rig;
  readonly agent: TestAgent;
  /** All streams so far. */
  readonly lines: Line[] = [];

  constructor(rig: Rig, agent: TestAgent) {
    this.rig = rig;
    this.agent = agent;
  }

  /**
   * `act` is called for each head that comes to shop.example.test, but `GET /own`: that is answered as it should be. calm.example.test is
   * served by another agent.
   */
  static async start(t: Scope, act: (line: Line) => void, options: RigOptions = {}): Promise<HostileRig> {
    const rig = await Rig.start(t, options);
    const calm = await httpOrigin(t, (_request, response) => response.end('calm'));
    await rig.serve('calm', calm.port);
    const agent = await TestAgent.enter(rig.node.addresses().agents.port, 'good', 'hostile');
    t.after(() => agent.destroy());
    const made = new HostileRig(rig, agent);
    agent.onStream = (stream) => made.#serve(stream, act);
    await agent.bind('shop');
    return made;
  }

  #serve(stream: MuxStream, act: (line: Line) => void): void {
    const line = new Line(stream);
    this.lines.push(line);
    let [all, seen] = ['', PREAMBLE_BYTES];
    stream.sink = {
      onData: (_stream, bytes, start, end) => {
        all += bytes.toString('latin1', start, end);
        stream.consumed(end - start);
        line.text = all.slice(PREAMBLE_BYTES);
        for (;;) {
          const head = all.indexOf('\r\n\r\n', seen);
          if (head < 0) break;
          const first = all.slice(seen, head);
          seen = head + 4;
          line.heads++;
          if (first.startsWith('GET /own ')) line.say(OWN);
          else act(line);
        }
      },
      onEnd: () => {},
      onReset: () => {},
      onDrain: () => {},
    };
  }

  /** Writes a frame past the multiplexer's rules, behind what was said before. */
  frame(type: (typeof TYPE)[keyof typeof TYPE], flags: number, id: number, length: number, payload?: Buffer): void {
    this.agent.session.sender.flush();
    const header = Buffer.alloc(HEADER_BYTES);
    writeHeader(header, 0, type, flags, id, length);
    this.agent.socket.write(payload === undefined ? header : Buffer.concat([header, payload]));
  }

  /** How often visitors got that response. */
  count(code: FaultCode): number {
    return this.rig.node.stats().answered[code] ?? 0;
  }

  /** The other tunnel serves, and unless `isGone` this one does too: each visitor gets exactly what it asked for. */
  async goesOn(isGone = false): Promise<void> {
    for (const [name, body] of [
      ['calm', 'calm'],
      ['shop', 'own'],
    ] as const) {
      if (isGone && name === 'shop') continue;
      const wire = await this.rig.visit();
      for (let i = 0; i < 2; i++) {
        wire.ask('GET /own', `Host: ${name}.example.test`);
        const reply = await wire.response();
        assert.equal(reply.body, body);
        assert.doesNotMatch(reply.head, /culvert-error|evil/i);
      }
      assert.equal(wire.text, '');
      wire.socket.destroy();
    }
  }
}
