/**
 * Two loads of the log-in scenario, as a process of its own: `argon2 SECONDS` computes what a log-in computes, on two threads and nothing
 * else; `storm SECONDS URL CLIENTS` logs in over HTTP, with the password in BENCH_PASSWORD. Prints how many were done per second.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Passwords } from '../../src/control/services/passwords.ts';

const PASSWORD = 'correct horse battery staple';
const THREADS = 2;

const [kind, seconds = '3', url = '', clients = '4'] = process.argv.slice(2);
const until = performance.now() + Number(seconds) * 1_000;

/** Runs `work` from several hands until the time is over; gives how often per second. */
async function rate(hands: number, work: () => Promise<void>): Promise<number> {
  let done = 0;
  const start = performance.now();
  const hand = async (): Promise<void> => {
    while (performance.now() < until) {
      await work();
      done++;
    }
  };
  await Promise.all(Array.from({ length: hands }, hand));
  return (done / (performance.now() - start)) * 1_000;
}

async function argon2(): Promise<number> {
  const passwords = new Passwords();
  const stored = await passwords.hash(PASSWORD);
  const result = await rate(THREADS, async () => void (await passwords.verify(stored, PASSWORD)));
  passwords.close();
  return result;
}

async function logIn(): Promise<void> {
  const response = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin@localhost', password: process.env['BENCH_PASSWORD'] }),
  });
  const text = await response.text();
  if (response.status === 503) await pause(50);
  else if (!response.ok) throw new Error(`a log-in failed: ${response.status} ${text}`);
}

const result = kind === 'argon2' ? await argon2() : await rate(Number(clients), logIn);
process.stdout.write(`rate ${result.toFixed(2)}\n`);
