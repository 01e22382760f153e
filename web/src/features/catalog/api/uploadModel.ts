import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { upload } from "@/lib/api/http";
import type { Model } from "@/lib/api/types";

/** Stores a model's file under a name, with the samples that its integers are calibrated with, if any; `share` is how much of it is sent, 0 to 1. */
export function useUploadModel() {
  const client = useQueryClient();
  const [share, setShare] = useState(0);
  const mutation = useMutation({
    mutationFn: ({ file, name, samples }: { file: File; name: string; samples: File | null }) => {
      const form = new FormData();
      form.set("name", name);
      form.set("file", file);
      if (samples) form.set("samples", samples);
      setShare(0);
      return upload<Model>("/v1/models", form, setShare);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["models"] }),
  });
  return { ...mutation, share };
}
