/** The fields of a new key that need more than a line. */
import { Group, NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { centsOf } from '../../parts/forms/dollars.ts';
import { usePricing } from './key-query.ts';
import { buysText } from './key-state.ts';
import { BandwidthField, QuotaField } from './limit-fields.tsx';
import { LIFETIMES, MOST_DAYS, type NewKeyValues, OTHER } from './new-key-values.ts';

interface FieldProps {
  readonly form: UseFormReturnType<NewKeyValues>;
}

export function LifetimeField({ form }: FieldProps) {
  const { use, lifetime } = form.values;
  return (
    <Group align="flex-start" grow preventGrowOverflow={false}>
      <Select
        label="Expires after"
        data={[...LIFETIMES[use]]}
        allowDeselect={false}
        {...form.getInputProps('lifetime')}
      />
      {lifetime === OTHER && (
        <NumberInput
          label="Days"
          description={`1 to ${MOST_DAYS[use]}`}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          min={1}
          max={MOST_DAYS[use]}
          clampBehavior="blur"
          allowDecimal={false}
          {...form.getInputProps('days')}
        />
      )}
    </Group>
  );
}

export function LimitFields({ form }: FieldProps) {
  const { data: prices } = usePricing();
  const budget = (
    <TextInput
      label="Monthly budget"
      description={
        buysText(centsOf(form.values.budget) ?? 0, prices?.usdCentsPerGb ?? null) ?? 'In US dollars. Empty: no cap.'
      }
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      placeholder="No cap"
      inputMode="decimal"
      leftSection="$"
      {...form.getInputProps('budget')}
    />
  );
  if (form.values.use === 'master') return budget;
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      <QuotaField {...form.getInputProps('quota')} />
      <BandwidthField {...form.getInputProps('mbps')} />
      {budget}
    </SimpleGrid>
  );
}

export function ProjectField({ form }: FieldProps) {
  const { client } = useApi();
  const projects = useQuery({
    queryKey: ['projects'],
    queryFn: ({ signal }) => answered(client.GET('/projects', { signal })),
  });
  const data = (projects.data ?? []).map(({ slug, name }) => ({ value: slug, label: `${name} (${slug})` }));
  return <Select label="Project" data={data} allowDeselect={false} searchable {...form.getInputProps('project')} />;
}
