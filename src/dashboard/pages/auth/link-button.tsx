/** A button that looks like a link: the lesser ways of a step. */
import { Anchor } from '@mantine/core';

interface LinkButtonProps {
  readonly children: string;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

export function LinkButton({ children, disabled = false, onClick }: LinkButtonProps) {
  return (
    <Anchor
      component="button"
      type="button"
      size="sm"
      className="culvert-auth-link"
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </Anchor>
  );
}
