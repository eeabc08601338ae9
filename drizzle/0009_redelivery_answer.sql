ALTER TABLE `webhook_receivers` ADD `redelivery_matched` integer;--> statement-breakpoint
ALTER TABLE `webhook_receivers` ADD `redelivery_continue_from` integer;