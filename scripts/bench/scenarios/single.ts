/** The scenarios that start what they need by themselves, and come to a text, in the order in which they are run. */
import type { Bench } from '../bench.ts';
import type { ScenarioName } from '../options.ts';
import { measureBandwidth } from './bandwidth.ts';
import { measureBigDatabase } from './big-database.ts';
import { measureDashboard } from './dashboard.ts';
import { measureDashboardLive } from './dashboard-live.ts';
import { measureDatagrams } from './datagrams.ts';
import { measureFar } from './far.ts';
import { measureGateStorm } from './gate-storm.ts';
import { measureInspector } from './inspector.ts';
import { measureLogIns } from './log-ins.ts';
import { measureMemory } from './memory.ts';
import { measurePolicy } from './policy.ts';
import { measureRecords } from './records.ts';
import { measureRelay } from './relay.ts';
import { measureRelayPackets } from './relay-packets.ts';
import { measureRestart } from './restart.ts';
import { measureRewrite } from './rewrite.ts';
import { measureSearch } from './search.ts';
import { measureStorms } from './storms.ts';
import { measureThreadsMemory } from './threads-memory.ts';

export const SINGLE: readonly { readonly name: ScenarioName; measure(bench: Bench): Promise<string> }[] = [
  { name: 'memory', measure: measureMemory },
  { name: 'threads-memory', measure: measureThreadsMemory },
  { name: 'storms', measure: measureStorms },
  { name: 'restart', measure: measureRestart },
  { name: 'log-ins', measure: measureLogIns },
  { name: 'policy', measure: measurePolicy },
  { name: 'rewrite', measure: measureRewrite },
  { name: 'gate-storm', measure: measureGateStorm },
  { name: 'big-database', measure: measureBigDatabase },
  { name: 'records', measure: measureRecords },
  { name: 'search', measure: measureSearch },
  { name: 'inspector', measure: measureInspector },
  { name: 'dashboard-live', measure: measureDashboardLive },
  { name: 'bandwidth', measure: measureBandwidth },
  { name: 'relay', measure: (bench) => measureRelay(bench, 'relay') },
  { name: 'relay-reno', measure: (bench) => measureRelay(bench, 'relay-reno') },
  { name: 'relay-packets', measure: measureRelayPackets },
  { name: 'datagrams', measure: measureDatagrams },
  { name: 'far', measure: measureFar },
  { name: 'dashboard', measure: measureDashboard },
];
