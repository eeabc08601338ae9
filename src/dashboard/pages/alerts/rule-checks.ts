/** Values of the fields of a rule, their checks, and how they are sent. */
import { type Kind, kindOf } from './alert-labels.ts';

export interface RuleValues {
  kind: Kind;
  threshold: number | '';
  forMinutes: number | '';
  isQuiet: boolean;
  quietFrom: string;
  quietTo: string;
  timeZone: string;
}

export const QUIET = { from: '22:00', to: '07:00' } as const;

/** The zone of this browser. */
export function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
}

/** Checks of these fields, as the form calls them. */
export const RULE_CHECKS = {
  threshold: (value: number | '', { kind }: RuleValues) => {
    const of = kindOf(kind).threshold;
    if (of === null) return null;
    return value === '' || value <= 0 || value > of.most ? `Enter a number up to ${of.most}.` : null;
  },
  forMinutes: (value: number | '', { kind }: RuleValues) =>
    kindOf(kind).waits && (value === '' || value < 1 || value > 1440) ? 'Enter 1 to 1440 minutes.' : null,
};

/** Fields of the form for paths of the API. */
export const RULE_FAULTS = {
  for_minutes: 'forMinutes',
  'quiet_hours.from': 'quietFrom',
  'quiet_hours.to': 'quietTo',
  'quiet_hours.time_zone': 'timeZone',
} as const;

/** These fields as the API takes them. */
export function quietHoursOf({ isQuiet, quietFrom: from, quietTo: to, timeZone: time_zone }: RuleValues) {
  return isQuiet ? { from, to, time_zone } : null;
}
