/** The fields that a new alert and an existing one have in common: threshold, time and quiet hours. */
import { Group, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { kindOf } from './alert-labels.ts';
import type { RuleValues } from './rule-checks.ts';

// The form may have other fields.
type RuleForm = Pick<UseFormReturnType<RuleValues>, 'getInputProps'> & { readonly values: RuleValues };

export function RuleFields({ form }: { readonly form: RuleForm }) {
  const { kind, isQuiet } = form.values;
  const { threshold, waits } = kindOf(kind);
  return (
    <>
      <Group grow align="flex-start" preventGrowOverflow={false}>
        {threshold !== null && (
          <NumberInput
            label={threshold.label}
            suffix={threshold.suffix}
            min={0}
            max={threshold.most}
            allowNegative={false}
            hideControls
            {...form.getInputProps('threshold')}
          />
        )}
        {waits && (
          <NumberInput
            label="For at least"
            suffix=" min"
            min={1}
            max={1440}
            allowDecimal={false}
            allowNegative={false}
            hideControls
            {...form.getInputProps('forMinutes')}
          />
        )}
      </Group>
      <Switch
        label="Quiet hours"
        description="Messages wait, and go out in one when they are over."
        {...form.getInputProps('isQuiet', { type: 'checkbox' })}
      />
      {isQuiet && (
        <Group grow align="flex-start" preventGrowOverflow={false}>
          <TextInput type="time" label="From" {...form.getInputProps('quietFrom')} />
          <TextInput type="time" label="To" {...form.getInputProps('quietTo')} />
          <Select
            label="Time zone"
            searchable
            allowDeselect={false}
            limit={100}
            data={timeZones(form.values.timeZone)}
            {...form.getInputProps('timeZone')}
          />
        </Group>
      )}
    </>
  );
}

/** All that this browser knows, with the one that is set. */
function timeZones(set: string): string[] {
  return [...new Set([set, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
}
