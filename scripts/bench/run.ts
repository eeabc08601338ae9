/**
 * `npm run bench`: measures Culvert beside the direct origin, nginx, haproxy and `ssh -R`, interleaved in one run, and
 * prints tables and the goals of the design. Linux only: it reads /proc and uses epoll. See options.ts for the arguments.
 */
import { writeFileSync } from 'node:fs';
import { type Bench, runRounds, type Subjects, warmUp } from './bench.ts';
import {
  buildCulvert,
  type CulvertBuild,
  type CulvertServer,
  culvertBuild,
  httpsSubject,
  otherBuild,
  startAgent,
  startServer,
} from './culvert.ts';
import { Load } from './load.ts';
import { type Options, readOptions } from './options.ts';
import { makeCertificate, startHaproxy, startNginx, startOrigin } from './peers.ts';
import { Processes } from './processes.ts';
import { describeMachine } from './report/machine.ts';
import { say } from './report/progress.ts';
import { scenarioTable } from './report/tables.ts';
import { targetTable } from './report/targets.ts';
import { Results } from './results.ts';
import { http2Scenarios } from './scenarios/h2.ts';
import { visitScenarios } from './scenarios/h2-visits.ts';
import { profile } from './scenarios/profile.ts';
import { linkScenario, measureLink } from './scenarios/link.ts';
import { requestScenarios } from './scenarios/requests.ts';
import { bulkScenario, eventScenario, fairScenario } from './scenarios/streams.ts';
import { SINGLE } from './scenarios/single.ts';
import { startSsh } from './ssh.ts';
import type { Scenario, Subject, SubjectName } from './subject.ts';
import { describeTls } from './tls.ts';
import { prepareTools } from './tools.ts';

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if ('text' in options) {
    process.stderr.write(options.text);
    process.exitCode = options.code;
    return;
  }
  const processes = new Processes();
  let interrupted = false;
  const interrupt = (): void => {
    interrupted = true;
    say('interrupted: ending everything');
    void processes.close().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  try {
    await measure(processes, options);
  } catch (error) {
    // After an interrupt everything fails, and `interrupt` ends the program.
    if (!interrupted) throw error;
  } finally {
    await processes.close();
  }
}

async function measure(processes: Processes, options: Options): Promise<void> {
  const tools = await prepareTools(processes, options.install);
  const load = new Load(processes);
  const certificate = await makeCertificate(processes);
  const bench: Bench = { options, processes, tools, load, results: new Results(), certificate };
  const machine = await describeMachine(processes);
  say(machine);
  if (options.build && options.culvert === undefined) say((await buildCulvert(processes)) || 'built');
  if (options.perf) {
    process.stdout.write(`${machine}\n${await profile(bench)}\n`);
    return;
  }
  const texts: string[] = [];
  const scenarios = roundScenarios(bench);
  if (scenarios.length > 0) {
    const subjects = await startSubjects(bench, scenarios);
    const terms = await describeTls(processes, subjects.values());
    if (terms !== undefined) texts.push(terms);
    await warmUp(bench, scenarios, subjects);
    await runRounds(bench, scenarios, subjects);
  }
  await processes.stopAll();
  for (const single of SINGLE.filter(({ name }) => options.only.includes(name)))
    texts.push(await orSkip(processes, single.name, () => single.measure(bench)));
  const links = (['link', 'link-reno'] as const).filter((name) => options.only.includes(name));
  const linkScenarios = links.map((name) => linkScenario(bench, name));
  for (const scenario of linkScenarios) await measureLink(bench, scenario);
  report(bench, { scenarios: [...scenarios, ...linkScenarios], texts, machine });
}

function roundScenarios(bench: Bench): Scenario[] {
  const { options, load, processes, tools } = bench;
  const all = [
    ...requestScenarios(load, options.seconds),
    ...http2Scenarios({ load, processes, tools, seconds: options.seconds }),
    ...visitScenarios(load, processes),
    bulkScenario(load, options),
    fairScenario(load, processes, options),
    eventScenario(load, processes, tools, options.seconds),
  ];
  return all.filter((scenario) => options.only.some((name) => name === scenario.name));
}

/** Of another build. */
const OTHERS: readonly SubjectName[] = ['culvert-other', 'culvert-tls-other'];

/** Starts what the scenarios need of the subjects that the user wants. What can't be started is said and left out. */
async function startSubjects(bench: Bench, scenarios: readonly Scenario[]): Promise<Subjects> {
  const { options, processes, tools, certificate } = bench;
  const wanted = (name: SubjectName): boolean =>
    (!OTHERS.includes(name) || otherBuild(options) !== undefined) &&
    (options.subjects.length === 0 || options.subjects.includes(name)) &&
    scenarios.some((scenario) => scenario.subjects.includes(name));
  const subjects = new Map<SubjectName, Subject>();
  const add = async (name: SubjectName, start: () => Promise<Subject | undefined>): Promise<void> => {
    if (!wanted(name)) return;
    say(`starting ${name}`);
    try {
      const subject = await start();
      if (subject === undefined) say(`${name} is SKIPPED: the program is not on this machine`);
      else subjects.set(name, subject);
    } catch (error) {
      say(`${name} is SKIPPED: ${processes.survive(error)}`);
    }
  };
  const direct = await startOrigin(processes, tools, { name: 'origin', address: '127.0.0.1' });
  const originPort = direct.port;
  await add('direct', async () => direct);
  await add('nginx', () => startNginx(processes, tools, { originPort }));
  await add('nginx-tls', () => startNginx(processes, tools, { originPort, certificate }));
  await add('haproxy', () => startHaproxy(processes, tools, originPort));
  await add('ssh', () => startSsh(processes, tools, { originPort, sshdAddress: '127.0.0.1' }));
  if (wanted('culvert') || wanted('culvert-tls')) await startCulvert(bench, { originPort, add });
  if (OTHERS.some(wanted)) await startOther(bench, { originPort, add });
  return subjects;
}

interface Starting {
  readonly originPort: number;
  readonly add: (name: SubjectName, start: () => Promise<Subject | undefined>) => Promise<void>;
}

async function startCulvert(bench: Bench, { originPort, add }: Starting): Promise<void> {
  const build = culvertBuild(bench.options);
  const started = startBuild(bench, build, { name: 'server', agent: 'agent', subject: 'culvert', originPort });
  await started.catch(() => undefined); // told by `add`, for each of the two ways
  await add('culvert', async () => (await started).subject);
  await add('culvert-tls', async () => httpsSubject((await started).server, 'agent'));
}

/** Another build to compare with in the same rounds. */
async function startOther(bench: Bench, { originPort, add }: Starting): Promise<void> {
  const build = otherBuild(bench.options);
  if (build === undefined) return;
  const names = { name: 'server-other', agent: 'agent-other', subject: 'culvert-other' } as const;
  const started = startBuild(bench, build, { ...names, originPort });
  await started.catch(() => undefined);
  await add('culvert-other', async () => (await started).subject);
  await add('culvert-tls-other', async () => httpsSubject((await started).server, names.agent, 'culvert-tls-other'));
}

async function startBuild(
  { processes, certificate }: Bench,
  build: CulvertBuild,
  of: { readonly name: string; readonly agent: string; readonly subject: SubjectName; readonly originPort: number },
): Promise<{ server: CulvertServer; subject: Subject }> {
  say(`${of.subject} is ${build.command.join(' ')}, data_threads ${build.dataThreads ?? 'as it has them'}`);
  const server = await startServer(processes, build, { name: of.name, certificate });
  const { originPort, subject } = of;
  return { server, subject: await startAgent(processes, server, { originPort, name: of.agent, subject }) };
}

/** A scenario that fails is said and left out; the figures of the others are printed all the same. */
async function orSkip(processes: Processes, name: string, action: () => Promise<string>): Promise<string> {
  try {
    return await action();
  } catch (error) {
    const text = `${name} is SKIPPED: ${processes.survive(error)}`;
    say(text);
    return text;
  }
}

function report(
  bench: Bench,
  {
    scenarios,
    texts,
    machine,
  }: { readonly scenarios: readonly Scenario[]; readonly texts: readonly string[]; readonly machine: string },
): void {
  const { options, results } = bench;
  const tables = scenarios.flatMap((scenario) => scenarioTable(scenario, results) ?? []);
  const head = `${machine}\n${options.rounds} rounds of ${options.seconds} s; medians; ratios are medians of the ratios per round`;
  process.stdout.write(`\n${[head, ...tables, ...texts, targetTable(results)].join('\n\n')}\n`);
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ machine, options, samples: results }, null, 1)}\n`);
    say(`samples are in ${options.json}`);
  }
}

await main();
