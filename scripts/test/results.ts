/**
 * What the run says: a failure at once, how far it is every ten seconds, and at the end the failures in full, what was not covered and why, the
 * slowest files, and the counts in the form of node's own runner. Used by scripts/test.ts.
 */
import { styleText } from 'node:util';
import type { ResultEvent } from './lane-events.ts';
import { packagesFor } from './packages.ts';
import type { Watcher } from './pool.ts';
import type { Cost, Costs } from './queue.ts';
import type { Sources } from './sources.ts';

const TELL_EVERY_MS = 10_000;
const SLOWEST = 10;
const NOT_INSTALLED = 'not installed: ';

export class Results implements Watcher {
  readonly #costs: Record<string, Cost> = {};
  readonly #count: number;
  readonly #sources: Sources;
  readonly #everyTest: boolean;
  readonly #needsAll: boolean;
  readonly #startedAt = performance.now();
  readonly #failures: string[] = [];
  readonly #skips = new Map<string, number>();
  readonly #broken = new Set<string>();
  readonly #failedFiles = new Set<string>();
  /** Those with a test that was skipped. */
  readonly #partly = new Set<string>();
  /** By path: the test that reported last. */
  readonly #last = new Map<string, string>();
  readonly #tests = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
  readonly #timer: NodeJS.Timeout;

  /** `count`: files that were asked for. `everyTest`: also name what passes. `needsAll`: a program that is missing is a failure. */
  constructor(
    count: number,
    { sources, everyTest, needsAll }: { sources: Sources; everyTest: boolean; needsAll: boolean },
  ) {
    this.#count = count;
    this.#sources = sources;
    this.#everyTest = everyTest;
    this.#needsAll = needsAll;
    this.#timer = setInterval(() => say(this.#progress()), TELL_EVERY_MS).unref();
  }

  result(path: string, event: ResultEvent): void {
    if (event.depth > 0) this.#add(event);
    this.#last.set(path, event.names.slice(1).join(' › '));
    if (!event.ok && !event.todo) this.#failedFiles.add(path);
    if (event.skip !== false) this.#partly.add(path);
    if (event.error !== undefined && !event.ok && !event.todo) {
      const at = event.at === undefined ? '' : `\n${event.at}`;
      this.#fail(event.names.join(' › '), `${event.error}${at}`);
    } else if (this.#everyTest && event.depth > 0) {
      const mark = event.skip === false ? styleText('green', '✔') : '﹣';
      const why = typeof event.skip === 'string' ? ` # ${event.skip}` : '';
      say(`${'  '.repeat(event.depth - 1)}${mark} ${event.names.at(-1)} (${event.tookMs.toFixed(0)} ms)${why}`);
    }
  }

  finished(path: string, cost: Cost, output: string): void {
    this.#costs[path] = cost;
    const shows = output.trim() !== '' && (this.#everyTest || this.#failedFiles.has(path));
    if (shows) say(`--- printed by the process of ${path}\n${this.#sources.shown(output.trimEnd())}\n---`);
  }

  broke(path: string, why: string, output: string): void {
    this.#broken.add(path);
    this.#tests.fail += 1;
    this.#tests.tests += 1;
    const last = this.#last.get(path);
    const after = last === undefined ? '' : `, after the test "${last}"`;
    this.#fail(path, `the file did not report: ${why}${after}${output === '' ? '' : `\n${output}`}`);
  }

  fault(text: string): void {
    this.#tests.fail += 1;
    this.#tests.tests += 1;
    this.#fail('outside of any test', text);
  }

  /** Prints the summary. True: all files reported and no test failed. */
  finish(): boolean {
    clearInterval(this.#timer);
    const reported = Object.keys(this.#costs).length + this.#broken.size;
    const absent = [...this.#skips.keys()].filter((why) => why.startsWith(NOT_INSTALLED));
    if (this.#needsAll && absent.length > 0) this.fault(`tests were skipped:\n${absent.join('\n')}`);
    if (reported !== this.#count) this.fault(`${this.#count} files were asked for, ${reported} reported`);
    if (this.#tests.tests === 0) this.fault('no test ran: none has a name that fits');
    if (this.#count > SLOWEST) this.#tellSlowest();
    if (this.#failures.length > 0 && !this.#everyTest)
      say(`\n${styleText('red', 'failed:')}\n\n${this.#failures.join('\n\n')}`);
    this.#tellSkips();
    const took = { duration_ms: (performance.now() - this.#startedAt).toFixed(0) };
    say(
      `\n${this.#count} ${this.#count === 1 ? 'file' : 'files'} in ${(Number(took.duration_ms) / 1000).toFixed(0)} s`,
    );
    for (const [name, value] of Object.entries({ ...this.#tests, ...took })) say(`ℹ ${name} ${value}`);
    return this.#failures.length === 0;
  }

  /** By path, of the files in which nothing failed. */
  costsOfPassed(): Costs {
    return Object.fromEntries(Object.entries(this.#costs).filter(([path]) => !this.#failedFiles.has(path)));
  }

  /** The files in which every test passed. */
  whollyPassed(): string[] {
    return Object.keys(this.costsOfPassed()).filter((path) => !this.#partly.has(path));
  }

  #add(event: ResultEvent): void {
    if (typeof event.skip === 'string') this.#skips.set(event.skip, (this.#skips.get(event.skip) ?? 0) + 1);
    const { tests } = { tests: this.#tests };
    if (event.type === 'suite') {
      tests.suites += 1;
      return;
    }
    tests.tests += 1;
    if (event.skip !== false) tests.skipped += 1;
    else if (event.todo) tests.todo += 1;
    else if (event.cancelled) tests.cancelled += 1;
    else if (event.ok) tests.pass += 1;
    else tests.fail += 1;
  }

  #fail(name: string, text: string): void {
    const failure = `${styleText('red', '✖')} ${name}\n${this.#sources.shown(text).replaceAll(/^/gm, '    ')}`;
    this.#failures.push(failure);
    say(failure);
  }

  #progress(): string {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const done = Object.keys(this.#costs).length + this.#broken.size;
    return `${done} of ${this.#count} files, ${this.#failures.length} failed, ${seconds.toFixed(0)} s`;
  }

  #tellSlowest(): void {
    const slowest = Object.entries(this.#costs).sort(([, a], [, b]) => b.wall - a.wall);
    const lines = slowest.slice(0, SLOWEST).map(([path, { wall, cpu }]) => {
      return `${(wall / 1000).toFixed(1).padStart(6)} s, ${(cpu / 1000).toFixed(1).padStart(5)} s of the processor  ${path}`;
    });
    say(`\nslowest:\n${lines.join('\n')}`);
  }

  #tellSkips(): void {
    if (this.#skips.size === 0) return;
    say('\nnot covered:');
    const absent = new Set<string>();
    for (const [why, count] of [...this.#skips].sort(([a], [b]) => (a < b ? -1 : 1))) {
      say(`  ${why} (${count} ${count === 1 ? 'test or suite' : 'tests or suites'})`);
      if (!why.startsWith(NOT_INSTALLED)) continue;
      for (const name of why.slice(NOT_INSTALLED.length).split(', ')) absent.add(name);
    }
    const packages = packagesFor([...absent]);
    if (packages.length > 0)
      say(`  to add it on Debian: apt-get install --no-install-recommends ${packages.join(' ')}`);
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
