ALTER TABLE `audit_events` ADD `details` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `token_id` text;--> statement-breakpoint
ALTER TABLE `users` ADD `locked_at` integer;--> statement-breakpoint
CREATE INDEX `tunnels_token` ON `tunnels` (`token_id`);