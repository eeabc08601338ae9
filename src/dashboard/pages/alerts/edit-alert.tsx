/** The dialog that changes when an alert fires. Its channels stay: another channel is another alert. */
import { Modal, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useAction } from '../../parts/action.ts';
import type { Asked } from '../../parts/dialogs/asked.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { type Alert, sentThreshold, shownThreshold } from './alert-labels.ts';
import { ALERTS, useRuleChange } from './alert-queries.ts';
import { ownTimeZone, QUIET, quietHoursOf, RULE_CHECKS, RULE_FAULTS, type RuleValues } from './rule-checks.ts';
import { RuleFields } from './rule-fields.tsx';

export function EditAlert({ asked: { row, opened, close } }: { readonly asked: Asked<Alert> }) {
  return (
    <Modal opened={opened} onClose={close} title="Edit alert">
      {row !== undefined && <EditForm key={row.id} alert={row} onClose={close} />}
    </Modal>
  );
}

function EditForm({ alert, onClose }: { readonly alert: Alert; readonly onClose: () => void }) {
  const { run, undo } = useRuleChange(alert, ['threshold', 'for_minutes', 'quiet_hours']);
  const [refused, setRefused] = useState<string>();
  const { kind, threshold, for_minutes: forMinutes, quiet_hours: quiet } = alert;
  const form = useForm<RuleValues>({
    initialValues: {
      kind,
      threshold: threshold === null ? '' : shownThreshold(kind, threshold),
      forMinutes,
      isQuiet: quiet !== null,
      quietFrom: quiet?.from ?? QUIET.from,
      quietTo: quiet?.to ?? QUIET.to,
      timeZone: quiet?.time_zone ?? ownTimeZone(),
    },
    validate: RULE_CHECKS,
  });
  const change = useAction({
    run: (values: RuleValues) => run(bodyOf(values)),
    undo,
    touches: [ALERTS],
    done: 'Alert saved.',
    onDone: onClose,
    tellsFailure: true,
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit((values) => {
        setRefused(undefined);
        change.mutate(values, { onError: (error) => setRefused(showFaults(form, error, RULE_FAULTS)) });
      })}
    >
      <Stack>
        <RuleFields form={form} />
        <FormEnd action="Save" refused={refused} isBusy={change.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}

function bodyOf(values: RuleValues) {
  const sent = values.threshold === '' ? undefined : sentThreshold(values.kind, values.threshold);
  return {
    ...(values.forMinutes === '' ? {} : { for_minutes: values.forMinutes }),
    ...(sent === undefined ? {} : { threshold: sent }),
    quiet_hours: quietHoursOf(values),
  };
}
