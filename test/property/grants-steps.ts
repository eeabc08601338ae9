/**
 * What can happen to tokens, agents and tunnels: one record per step, made by chance (`anySteps`) and carried out on the real thing and the
 * model alike. A step names things by a number that is taken modulo how many there are, so that a shorter sequence still means something.
 */
import fc from 'fast-check';
import type { Project } from './grants-model.ts';

const HOUR = 3_600_000;

interface Scope {
  readonly names: readonly string[];
  readonly quota: number;
  readonly hours: number;
}

export type Step =
  | ({ readonly do: 'mint' } & Scope)
  | { readonly do: 'mint master'; readonly days: number }
  | ({ readonly do: 'mint child'; readonly master: number | null; readonly project: Project } & Scope)
  | { readonly do: 'rotate'; readonly token: number; readonly graceHours: number }
  | { readonly do: 'revoke'; readonly token: number }
  | { readonly do: 'cap'; readonly token: number; readonly cents: number | null }
  /** `any`: dead tokens and master keys too. */
  | { readonly do: 'connect'; readonly token: number; readonly any: boolean; readonly hurried: boolean }
  | {
      readonly do: 'claim';
      readonly agent: number;
      readonly name: string;
      readonly project: Project | undefined;
      readonly hurried: boolean;
    }
  /** Something that was served once carries so much, perhaps for a tunnel that another agent serves by now. */
  | { readonly do: 'carry'; readonly serving: number; readonly cents: number }
  | { readonly do: 'leave' | 'cut'; readonly agent: number }
  | { readonly do: 'stop' | 'start' | 'delete tunnel'; readonly tunnel: number }
  | { readonly do: 'delete project' | 'make project' | 'suspend' | 'approve' | 'restart' | 'restart control' }
  /** On a small one tunnels run out within the steps' hours. */
  | { readonly do: 'plan'; readonly plan: 'free' | 'enterprise' }
  | { readonly do: 'wait'; readonly ms: number };

const one = fc.nat({ max: 30 });
/** Often one of those that each run begins with: the master key and the tokens whose agents serve. */
const ended = fc.oneof({ weight: 2, arbitrary: one }, { weight: 3, arbitrary: fc.constantFrom(0, 1, 1, 2, 3) });
const scope = {
  names: fc.constantFrom<readonly string[]>(['*'], ['shop'], ['pr-*'], ['shop', 'pr-1']),
  quota: fc.integer({ min: 1, max: 2 }),
  hours: fc.integer({ min: 1, max: 3 }),
};
const hurried = fc.boolean();
const project = fc.constantFrom<Project>('web', 'default');

/** Agents and what ends tokens come often, what ends everything seldom. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('mint' as const), ...scope }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('mint master' as const), days: fc.integer({ min: 1, max: 2 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('mint child' as const),
      master: fc.option(one, { freq: 5 }),
      project,
      ...scope,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('rotate' as const),
      token: ended,
      graceHours: fc.constantFrom(0, 0, 1, 1, 2, 720),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('revoke' as const), token: ended }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('cap' as const), token: one, cents: fc.constantFrom(0, 1_000, null) }),
  },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('connect' as const), token: one, any: fc.boolean(), hurried }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      agent: one,
      name: fc.constantFrom('shop', 'pr-1', 'pr-2', 'other'),
      project: fc.option(project, { nil: undefined }),
      hurried,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('carry' as const), serving: one, cents: fc.constantFrom(1, 500, 1_000) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('leave' as const, 'cut' as const), agent: one }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('stop' as const, 'start' as const, 'delete tunnel' as const),
      tunnel: one,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('delete project' as const, 'make project' as const, 'suspend' as const, 'approve' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'restart control' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('plan' as const),
      plan: fc.constantFrom('free' as const, 'enterprise' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 999, 1_000, HOUR / 2, HOUR - 1, HOUR, HOUR + 1),
    }),
  },
);

/** Up to so many steps. */
export const anySteps = (most: number): fc.Arbitrary<readonly Step[]> =>
  fc.array(anyStep, { minLength: 1, maxLength: most, size: 'max' });

const free = { names: ['*'], quota: 2 };
const web = { do: 'mint child', master: 0, project: 'web', ...free } as const;
const connect = { do: 'connect', any: true, hurried: false } as const;
const claim = { do: 'claim', hurried: false, project: undefined } as const;

/** What each run begins with: a token, a master key with two children, and agents of theirs that serve. */
export const BUSY: readonly Step[] = [
  { do: 'mint', ...free, hours: 3 },
  { do: 'mint master', days: 1 },
  { ...web, hours: 2 },
  { ...web, hours: 30, project: 'default' },
  { ...connect, token: 0 },
  { ...connect, token: 2 },
  { ...connect, token: 3 },
  { ...claim, agent: 0, name: 'shop' },
  { ...claim, agent: 1, name: 'shop' },
  { ...claim, agent: 2, name: 'pr-1' },
];
