/** A reporter of node:test that hands what happens to the parent process (scripts/test/pool.ts). Given to node by --test-reporter. */
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import type { LaneEvent, ResultEvent } from './lane-events.ts';

type Result = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;

/** An error longer than this says no more to a reader. */
const MAX_ERROR = 16_384;

// oxlint-disable-next-line import/no-default-export -- what node takes for a reporter
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  /** Of the tests around the one that is reported, by depth. */
  const names: string[] = [];
  for await (const event of source) {
    if (event.type === 'test:start') {
      names.length = event.data.nesting;
      names.push(event.data.name);
    } else if (event.type === 'test:pass' || event.type === 'test:fail') {
      tell(result(event, names));
    } else if (
      event.type === 'test:diagnostic' &&
      event.data.nesting === 0 &&
      event.data.message.startsWith('Error: ')
    ) {
      tell({ kind: 'diagnostic', text: event.data.message });
    } else if (event.type === 'test:dequeue') {
      tell({ kind: 'alive' });
    }
  }
  yield '';
}

function result({ type, data }: Result, names: readonly string[]): ResultEvent {
  const { details, nesting, name, file, line, column } = data;
  const error = 'error' in details ? details.error : undefined;
  return {
    kind: 'result',
    depth: nesting,
    type: details.type === 'suite' ? 'suite' : 'test',
    names: [...names.slice(0, nesting), name],
    ok: type === 'test:pass',
    tookMs: details.duration_ms,
    skip: data.skip ?? false,
    todo: data.todo !== undefined && data.todo !== false,
    cancelled: isOf(error, 'cancelledByParent'),
    ...(error === undefined || isOf(error, 'subtestsFailed') ? {} : { error: textOf(error) }),
    ...(file === undefined ? {} : { at: `${file}:${line}:${column}` }),
  };
}

function isOf(error: unknown, failureType: string): boolean {
  return error instanceof Error && 'failureType' in error && error.failureType === failureType;
}

function textOf(error: Error): string {
  const text = inspect(error.cause ?? error, { depth: 6 });
  return text.length <= MAX_ERROR ? text : `${text.slice(0, MAX_ERROR)}\n… ${text.length - MAX_ERROR} more characters`;
}

function tell(event: LaneEvent): void {
  process.send?.(event);
}
