/** One program, on each build in turn: untouched, then with the flag that the agent suggests. */
import { Kit, type KitOptions } from './kit.ts';
import { type CompatProgram, NotHere, type Started } from './program.ts';
import type { Stage, Visit } from './stage.ts';
import type { Outcome, Row } from './table.ts';

export interface Stages {
  readonly before?: Stage | undefined;
  readonly after: Stage;
}

/** Never rejects for what the program or the tunnel does. */
export async function tryProgram(program: CompatProgram, stages: Stages, options: KitOptions): Promise<Row> {
  const { name, checks, remedy } = program;
  const expected = remedy === undefined ? 'untouched' : `with ${remedy.name}`;
  const about = { name, checks, expected };
  const kit = new Kit(options);
  try {
    const started = await program.start(kit);
    const before = stages.before && (await outcomeOn(stages.before, program, started));
    const after = await outcomeOn(stages.after, program, started);
    const passed = after.works === expected && after.advice === (remedy?.advice === undefined ? 0 : 1);
    return { ...about, version: started.version, ...(before && { before }), after, passed };
  } catch (error) {
    // A program that can't be had says nothing of Culvert; one that can't be started is a fault of this script.
    if (error instanceof NotHere) return { ...about, notHere: error.message, passed: true };
    return { ...about, after: { works: undefined, advice: 0, why: String(error) }, passed: false };
  } finally {
    await kit.close();
  }
}

async function outcomeOn(stage: Stage, program: CompatProgram, started: Started): Promise<Outcome> {
  const { protocol = 'http', remedy } = program;
  const visit = (port: number, flags: readonly string[] = []): Promise<Visit> =>
    // The same name for all programs: a tunnel keeps its public port.
    stage.publish([protocol, String(port), '--subdomain', `compat-${protocol}`, ...flags], (tunnel) =>
      started.check(tunnel),
    );
  const untouched = await visit(started.port);
  const wanted = remedy?.advice ?? /\btry --/;
  const advice = untouched.output.split('\n').filter((line) => wanted.test(line)).length;
  if (untouched.failure === undefined) return { works: 'untouched', advice };
  const why = untouched.failure.message;
  if (remedy === undefined) return { works: undefined, advice, why };
  const { name, isFlag } = remedy;
  const { failure } = await visit(started.configuredPort ?? started.port, isFlag ? name.split(' ') : []);
  if (failure === undefined) return { works: `with ${name}`, advice };
  return { works: undefined, advice, why: `${why}; with ${name}: ${failure.message}` };
}
