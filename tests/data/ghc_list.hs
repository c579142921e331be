-- SPDX-License-Identifier: BSD-2-Clause
-- A list of 2,000 cells that is read completely in the second and in the third period.
-- ghc_list.hp is its profile by GHC 9.0.2: ghc -prof -O0 -rtsopts ghc_list.hs, then
-- ./ghc_list +RTS -hb -i0 (a census at each major collection).
module Main where
import System.Mem
import Control.Exception (evaluate)
import Foreign.StablePtr
data L = N | L Int L
mk :: Int -> L
mk 0 = N
mk n = L n (mk (n-1))
force :: L -> ()
force N = ()
force (L n r) = n `seq` force r
{-# NOINLINE force #-}
tot :: L -> Int -> Int
tot N a = a
tot (L n r) a = tot r $! (a+n)
{-# NOINLINE tot #-}
main :: IO ()
main = do
  let l = mk 2000
  _ <- evaluate (force l)
  s <- newStablePtr l
  performMajorGC                 -- census 1 : created in period 1
  x <- deRefStablePtr s
  evaluate (tot x 0) >>= print   -- full traversal in period 2
  performMajorGC                 -- census 2
  y <- deRefStablePtr s
  evaluate (tot y 1) >>= print   -- full traversal in period 3
  performMajorGC                 -- census 3
  freeStablePtr s
  performMajorGC
