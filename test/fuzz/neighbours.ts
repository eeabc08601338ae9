/**
 * Several visitors of one tunnel, and a service (or a hostile agent) that answers, closes, resets, says too much and says it unasked, in any order:
 * each visitor gets answers to its own requests and nothing of another's, and a request that must not be repeated comes once.
 */
import type { Random } from './cases.ts';
import type { DryEdge, DryStream, DryVisitor } from './dry-edge.ts';
import { readRequest, readResponse, valuesOf } from './reference.ts';

const HOST = 'Host: shop.example.test';
const MAX_VISITORS = 4;
const STEPS = 40;
const EVIL = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL';

interface Guest {
  readonly visitor: DryVisitor;
  /** Numbers of its requests, in order. */
  readonly asked: string[];
  /** The rest of a request that is half sent. */
  rest: string;
}

/** What a service has of a stream beyond the stream itself. */
interface Duty {
  /** The request that it has read and not answered. */
  asked: string | null;
  /** It has said too much, or closed: no request may come on it any more. */
  isSpoiled: boolean;
}

export interface Gathering {
  /** Answers that visitors got from the service, and from the edge. */
  readonly own: number;
  readonly faults: number;
}

/** Plays one gathering; throws what does not hold. */
export function gather(edge: DryEdge, random: Random): Gathering {
  edge.begin();
  const guests: Guest[] = [];
  const duties = new Map<DryStream, Duty>();
  const times = new Map<string, number>();
  let [number, own, faults] = [0, 0, 0];
  const below = (of: number): number => Math.floor(random() * of);
  const read = (): void => {
    for (const stream of edge.streams) {
      const duty = duties.get(stream) ?? { asked: null, isSpoiled: false };
      duties.set(stream, duty);
      if (duty.asked !== null || stream.gone || stream.read === stream.text.length) continue;
      if (duty.isSpoiled) throw new Error('a request comes on a connection that is out of step');
      const reading = readRequest(stream.text, stream.read);
      if (reading === 'more') continue;
      if ('bad' in reading) throw new Error(`no request: ${reading.bad} in ${JSON.stringify(stream.text)}`);
      stream.read = reading.next;
      duty.asked = reading.second.slice(1);
      const count = (times.get(duty.asked) ?? 0) + 1;
      times.set(duty.asked, count);
      if (count > (reading.first === 'GET' && reading.body === '' ? 2 : 1))
        throw new Error(`${reading.first} came ${count} times`);
    }
  };
  for (let step = 0; step < STEPS; step++) {
    const chance = random();
    const guest = guests[below(guests.length)];
    if (guest === undefined || (guests.length < MAX_VISITORS && chance < 0.1))
      guests.push({ visitor: edge.visit(), asked: [], rest: '' });
    else if (chance < 0.45) ask(guest, String(++number), random);
    else if (chance < 0.5) {
      [own, faults] = add([own, faults], judge(guest));
      guest.visitor.leave();
      guests.splice(guests.indexOf(guest), 1);
    } else {
      read();
      const entry = [...duties][below(duties.size)];
      if (entry !== undefined && !entry[0].gone) act(entry[0], entry[1], { random, times });
    }
    read();
  }
  const halves = (): number => edge.streams.filter((stream) => !stream.gone && isHalf(stream)).length;
  if (halves() > guests.filter(({ rest }) => rest !== '').length)
    throw new Error('a whole request came as half of one');
  for (const guest of guests) {
    [own, faults] = add([own, faults], judge(guest));
    guest.visitor.leave();
  }
  if (halves() > 0) throw new Error('half a request is left to the service');
  if (edge.inFlight !== 0) throw new Error(`${edge.inFlight} requests are still under way`);
  return { own, faults };
}

function isHalf({ text, read }: DryStream): boolean {
  return read < text.length && readRequest(text, read) === 'more';
}

function add(to: [number, number], more: [number, number]): [number, number] {
  return [to[0] + more[0], to[1] + more[1]];
}

function ask(guest: Guest, number: string, random: Random): void {
  if (guest.rest !== '') {
    guest.visitor.send(guest.rest);
    guest.rest = '';
    return;
  }
  guest.asked.push(number);
  if (random() < 0.5) return guest.visitor.send(`GET /${number} HTTP/1.1\r\n${HOST}\r\n\r\n`);
  const head = `POST /${number} HTTP/1.1\r\n${HOST}\r\nContent-Length: 8\r\n\r\n`;
  if (random() < 0.6) return guest.visitor.send(`${head}GET / HT`);
  guest.visitor.send(`${head}GET `);
  guest.rest = '/ HT';
}

function act(stream: DryStream, duty: Duty, of: { random: Random; times: Map<string, number> }): void {
  const chance = of.random();
  const { asked } = duty;
  const say = (text: string, isSpoiled = false): void => {
    duty.isSpoiled ||= isSpoiled;
    stream.say(text);
  };
  const leave = (how: 'end' | 'reset'): void => {
    duty.isSpoiled = true;
    stream.leave(how);
  };
  if (chance < 0.06) return leave('end');
  if (chance < 0.12) return leave('reset');
  if (asked === null) {
    // Half a request is answered, or none at all.
    const half = /^(?:GET|POST) \/(\d+) /.exec(stream.text.slice(stream.read))?.[1];
    if (half !== undefined && chance < 0.3)
      say(`HTTP/1.1 200 OK\r\nContent-Length: ${half.length}\r\n\r\n${half}`, true);
    else if (half === undefined && chance < 0.2) say(chance < 0.16 ? EVIL : '\r\n', true);
    return;
  }
  duty.asked = null;
  const whole = `HTTP/1.1 200 OK\r\nContent-Length: ${asked.length}\r\n\r\n${asked}`;
  if (chance < 0.5) say(whole);
  else if (chance < 0.6) say(`HTTP/1.1 103 Early Hints\r\n\r\n${whole}`);
  else if (chance < 0.68) say(whole + EVIL, true);
  else if (chance < 0.74)
    say(
      `HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${asked.length}\r\n${asked}\r\n0\r\n\r\n`,
      true,
    );
  else if (chance < 0.78) {
    say(`HTTP/1.1 200 OK\r\n\r\n${asked}`);
    leave('end');
  } else if (chance < 0.82) {
    say(whole.slice(0, -1));
    leave('reset');
  } else if (chance < 0.88) {
    // A byte of an answer has come: the request is not sent once more.
    of.times.set(asked, 2);
    say(chance < 0.85 ? 'HTTP/1.1 103 Early Hints\r\n\r\n' : 'HTT');
    leave('end');
  } else if (chance < 0.94) say(`no${EVIL}`, true);
  else {
    say(whole);
    // Once the next request is on its way, the next bytes are its response.
    if (stream.read === stream.text.length) say(EVIL, true);
  }
}

/** Each answer is that of its own request, or the edge's: how many there are of both. */
function judge(guest: Guest): [number, number] {
  const { text, over, cut } = guest.visitor;
  let [own, faults] = [0, 0];
  let count = 0;
  for (let from = 0; from < text.length; ) {
    const reading = readResponse(text, from, 'GET');
    if (reading === 'more') break;
    if ('bad' in reading) throw new Error(`no response: ${reading.bad} in ${JSON.stringify(text)}`);
    from = reading.next;
    if (reading.first.startsWith('1')) continue;
    const number = guest.asked[count++];
    if (valuesOf(reading, 'culvert-error').length > 0) faults++;
    else if (reading.untilClose ? over && !cut && reading.body !== number : reading.body !== number)
      throw new Error(`request ${String(number)} of a visitor is answered with ${JSON.stringify(reading.body)}`);
    else own++;
  }
  return [own, faults];
}
