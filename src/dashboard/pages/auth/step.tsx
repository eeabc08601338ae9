/**
 * One step of authentication, in the place of the one before. Keyboard and screen readers begin at the first field, or at the title where there is
 * none.
 */
import { Alert, Box, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { type ReactNode, type SubmitEvent, useEffect, useRef } from 'react';

/** Of the headings: 1 where nothing else on the page says what it is about. */
export type HeadingOrder = 1 | 2;

interface StepProps {
  readonly title: string;
  readonly order: HeadingOrder;
  /** What went wrong. */
  readonly problem?: string | undefined;
  /** For a form; without it nothing can be sent. */
  readonly onSubmit?: (event: SubmitEvent<HTMLFormElement>) => void;
  readonly children: ReactNode;
}

export function Step({ title, order, problem, onSubmit, children }: StepProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => focusFirst(box.current), []);
  const inside = (
    <Stack gap="md">
      <Title order={order} size={order === 1 ? 'h3' : 'h4'}>
        {title}
      </Title>
      {problem !== undefined && <Problem>{problem}</Problem>}
      {children}
    </Stack>
  );
  return (
    <Box ref={box} tabIndex={-1} className="culvert-auth-step">
      {onSubmit === undefined ? (
        inside
      ) : (
        // Without the script a form that says GET would send a password in the address.
        <form method="post" onSubmit={onSubmit}>
          {inside}
        </form>
      )}
    </Box>
  );
}

/** What went wrong, read out at once. */
export function Problem({ children }: { readonly children: string }) {
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle size={18} />} role="alert">
      <Text size="sm" className="culvert-wrap">
        {children}
      </Text>
    </Alert>
  );
}

function focusFirst(box: HTMLElement | null): void {
  if (box === null) return;
  const fields = [...box.querySelectorAll('input')];
  (fields.find((field) => field.value === '') ?? fields[0] ?? box).focus();
}
