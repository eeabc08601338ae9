/** Words of rows that the API has too, for files that know no table. */
import { ALERT_CHANNELS, ALERT_KINDS as KINDS } from '../../db/schema.ts';
import type { IncidentRow } from './incident-rows.ts';

export const ALERT_KINDS = KINDS;
export const CHANNEL_TYPES = ALERT_CHANNELS;
/** One that recovers still fires. */
export const INCIDENT_VIEW_STATES = ['pending', 'firing', 'recovered', 'noted'] as const;
export type Incident = IncidentRow;
